"""A module that cannot be imported: what it needs is not there."""

import a_package_that_nobody_has

model = a_package_that_nobody_has.model
