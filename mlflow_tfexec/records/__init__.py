"""The words of the project as types: spec, recording, judgement, finding."""
