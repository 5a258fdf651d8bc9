/* A stand-in for libnvidia-ml.so.1 that answers from a text file, so that GPU code is tested without a GPU.
 *
 * NVML_SIM_FILE names a file of key=value lines; it is read anew at every call, so a test may change it in between.
 * NVML_SIM_CALLS, if set, names a file that gets one line per call: the function's name.
 * A key that is not there is answered with NVML_ERROR_NOT_SUPPORTED. `<scope>error.<key>=<code>` forces an error.
 * Scopes: "" (system), "0." (first GPU), "0.mig1." (its second MIG instance). See tests/nvml_simulation.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };
enum { MAX_GPUS = 32, MAX_MIG = 8, TEXT = 512 };

typedef struct { int gpu, mig; } Device; /* mig is -1 for the whole GPU */
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned version, sensor; int temperature; } Temperature;
typedef struct { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; } Process;
typedef struct {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
} Pci;

static Device devices[MAX_GPUS][MAX_MIG + 1];
static int started;

static int lookup(const char *scope, const char *key, char *value) {
  char line[TEXT], wanted[TEXT];
  const char *path = getenv("NVML_SIM_FILE");
  FILE *file = path ? fopen(path, "r") : NULL;
  int found = 0;
  if (!file) return 0;
  snprintf(wanted, sizeof wanted, "%s%s=", scope, key);
  while (!found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, wanted, strlen(wanted)) == 0) {
      snprintf(value, TEXT, "%s", line + strlen(wanted));
      found = 1;
    }
  }
  fclose(file);
  return found;
}

static void log_call(const char *function) {
  const char *path = getenv("NVML_SIM_CALLS");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s\n", function);
  fclose(file);
}

static int forced_error(const char *scope, const char *key) {
  char name[TEXT], value[TEXT];
  snprintf(name, sizeof name, "error.%s", key);
  return lookup(scope, name, value) ? atoi(value) : SUCCESS;
}

/* Every query goes through here: the call is logged, NVML must be started, then errors, then the value. */
static int query(const char *function, const char *scope, const char *key, char *value) {
  int error;
  log_call(function);
  if (!started) return UNINITIALIZED;
  error = forced_error(scope, key);
  if (error) return error;
  return lookup(scope, key, value) ? SUCCESS : NOT_SUPPORTED;
}

static const char *scope_of(const Device *device) {
  static char scope[32];
  if (device->mig < 0) snprintf(scope, sizeof scope, "%d.", device->gpu);
  else snprintf(scope, sizeof scope, "%d.mig%d.", device->gpu, device->mig);
  return scope;
}

static int text(const char *function, const char *scope, const char *key, char *out, unsigned size) {
  char value[TEXT];
  int error = query(function, scope, key, value);
  if (error) return error;
  if (strlen(value) >= size) return INSUFFICIENT_SIZE;
  strcpy(out, value);
  return SUCCESS;
}

static int number(const char *function, const char *scope, const char *key, unsigned *out) {
  char value[TEXT];
  int error = query(function, scope, key, value);
  if (!error) *out = (unsigned)strtoul(value, NULL, 0);
  return error;
}

static Device *device_at(int gpu, int mig) {
  devices[gpu][mig + 1].gpu = gpu;
  devices[gpu][mig + 1].mig = mig;
  return &devices[gpu][mig + 1];
}

static int gpu_count(void) {
  char value[TEXT];
  int count = lookup("", "count", value) ? atoi(value) : 0;
  return count < MAX_GPUS ? count : MAX_GPUS;
}

int nvmlInitWithFlags(unsigned flags) {
  int error;
  (void)flags;
  log_call("nvmlInit");
  error = forced_error("", "init");
  if (!error) started++;
  return error;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlInit(void) { return nvmlInitWithFlags(0); }

int nvmlShutdown(void) {
  log_call("nvmlShutdown");
  if (!started) return UNINITIALIZED;
  started--;
  return forced_error("", "shutdown");
}

const char *nvmlErrorString(int error) {
  static char message[64];
  snprintf(message, sizeof message, "Simulated error %d", error);
  return message;
}

int nvmlSystemGetDriverVersion(char *out, unsigned size) {
  return text("nvmlSystemGetDriverVersion", "", "driver_version", out, size);
}
int nvmlSystemGetNVMLVersion(char *out, unsigned size) {
  return text("nvmlSystemGetNVMLVersion", "", "nvml_version", out, size);
}
int nvmlSystemGetCudaDriverVersion_v2(int *out) {
  return number("nvmlSystemGetCudaDriverVersion_v2", "", "cuda_version", (unsigned *)out);
}
int nvmlSystemGetCudaDriverVersion(int *out) { return nvmlSystemGetCudaDriverVersion_v2(out); }

int nvmlDeviceGetCount_v2(unsigned *out) { return number("nvmlDeviceGetCount_v2", "", "count", out); }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device **out) {
  int error;
  log_call("nvmlDeviceGetHandleByIndex_v2");
  if (!started) return UNINITIALIZED;
  if ((int)index >= gpu_count()) return INVALID_ARGUMENT;
  *out = device_at((int)index, -1);
  error = forced_error(scope_of(*out), "handle");
  return error;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, Device **out) {
  char value[TEXT];
  int gpu, mig;
  log_call("nvmlDeviceGetHandleByUUID");
  if (!started) return UNINITIALIZED;
  for (gpu = 0; gpu < gpu_count(); gpu++)
    for (mig = -1; mig < MAX_MIG; mig++) {
      Device *device = device_at(gpu, mig);
      if (lookup(scope_of(device), "uuid", value) && strcmp(value, uuid) == 0) {
        *out = device;
        return forced_error(scope_of(device), "handle");
      }
    }
  return NOT_FOUND;
}

int nvmlDeviceGetName(Device *device, char *out, unsigned size) {
  return text("nvmlDeviceGetName", scope_of(device), "name", out, size);
}
int nvmlDeviceGetUUID(Device *device, char *out, unsigned size) {
  return text("nvmlDeviceGetUUID", scope_of(device), "uuid", out, size);
}

int nvmlDeviceGetPciInfo_v3(Device *device, Pci *out) {
  memset(out, 0, sizeof *out);
  return text("nvmlDeviceGetPciInfo_v3", scope_of(device), "pci_bus_id", out->id, sizeof out->id);
}

int nvmlDeviceGetCudaComputeCapability(Device *device, int *major, int *minor) {
  char value[TEXT];
  int error = query("nvmlDeviceGetCudaComputeCapability", scope_of(device), "compute_capability", value);
  if (!error && sscanf(value, "%d.%d", major, minor) != 2) error = INVALID_ARGUMENT;
  return error;
}

int nvmlDeviceGetMemoryInfo(Device *device, Memory *out) {
  char value[TEXT];
  int error = query("nvmlDeviceGetMemoryInfo", scope_of(device), "memory", value);
  memset(out, 0, sizeof *out);
  if (!error) out->total = out->free = strtoull(value, NULL, 0);
  return error;
}

static int clock_mhz(const char *function, Device *device, unsigned type, const char *suffix, unsigned *out) {
  char key[64];
  if (type != 1 && type != 2) return INVALID_ARGUMENT;
  snprintf(key, sizeof key, "%s%s", type == 1 ? "sm_clock" : "memory_clock", suffix);
  return number(function, scope_of(device), key, out);
}
int nvmlDeviceGetClockInfo(Device *device, unsigned type, unsigned *out) {
  return clock_mhz("nvmlDeviceGetClockInfo", device, type, "", out);
}
int nvmlDeviceGetMaxClockInfo(Device *device, unsigned type, unsigned *out) {
  return clock_mhz("nvmlDeviceGetMaxClockInfo", device, type, "_max", out);
}

int nvmlDeviceGetEnforcedPowerLimit(Device *device, unsigned *out) {
  return number("nvmlDeviceGetEnforcedPowerLimit", scope_of(device), "power_limit", out);
}
int nvmlDeviceGetPowerUsage(Device *device, unsigned *out) {
  return number("nvmlDeviceGetPowerUsage", scope_of(device), "power", out);
}
int nvmlDeviceGetPersistenceMode(Device *device, unsigned *out) {
  return number("nvmlDeviceGetPersistenceMode", scope_of(device), "persistence", out);
}
int nvmlDeviceGetEccMode(Device *device, unsigned *current, unsigned *pending) {
  int error = number("nvmlDeviceGetEccMode", scope_of(device), "ecc", current);
  if (!error) *pending = *current;
  return error;
}

int nvmlDeviceGetTemperature(Device *device, unsigned sensor, unsigned *out) {
  (void)sensor;
  return number("nvmlDeviceGetTemperature", scope_of(device), "temperature", out);
}
/* Absent from older drivers, which a test asks for by leaving the key out. */
int nvmlDeviceGetTemperatureV(Device *device, Temperature *out) {
  return number("nvmlDeviceGetTemperatureV", scope_of(device), "temperature_v", (unsigned *)&out->temperature);
}

static int reasons(const char *function, Device *device, const char *key, unsigned long long *out) {
  char value[TEXT];
  int error = query(function, scope_of(device), key, value);
  if (!error) *out = strtoull(value, NULL, 0);
  return error;
}
int nvmlDeviceGetCurrentClocksEventReasons(Device *device, unsigned long long *out) {
  return reasons("nvmlDeviceGetCurrentClocksEventReasons", device, "event_reasons", out);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device *device, unsigned long long *out) {
  return reasons("nvmlDeviceGetCurrentClocksThrottleReasons", device, "throttle_reasons", out);
}

int nvmlDeviceGetMigMode(Device *device, unsigned *current, unsigned *pending) {
  int error = number("nvmlDeviceGetMigMode", scope_of(device), "mig", current);
  if (!error) *pending = *current;
  return error;
}
int nvmlDeviceGetMaxMigDeviceCount(Device *device, unsigned *out) {
  (void)device;
  log_call("nvmlDeviceGetMaxMigDeviceCount");
  *out = MAX_MIG;
  return started ? SUCCESS : UNINITIALIZED;
}
int nvmlDeviceGetMigDeviceHandleByIndex(Device *device, unsigned index, Device **out) {
  char value[TEXT];
  log_call("nvmlDeviceGetMigDeviceHandleByIndex");
  if (!started) return UNINITIALIZED;
  if (index >= MAX_MIG) return INVALID_ARGUMENT;
  *out = device_at(device->gpu, (int)index);
  return lookup(scope_of(*out), "uuid", value) ? SUCCESS : NOT_FOUND;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device *device, Device **out) {
  log_call("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  *out = device_at(device->gpu, -1);
  return started ? SUCCESS : UNINITIALIZED;
}
int nvmlDeviceGetGpuInstanceId(Device *device, unsigned *out) {
  return number("nvmlDeviceGetGpuInstanceId", scope_of(device), "gpu_instance", out);
}
int nvmlDeviceGetComputeInstanceId(Device *device, unsigned *out) {
  return number("nvmlDeviceGetComputeInstanceId", scope_of(device), "compute_instance", out);
}

int nvmlDeviceGetComputeRunningProcesses_v3(Device *device, unsigned *count, Process *out) {
  char value[TEXT], *next = value;
  unsigned found = 0;
  int error = query("nvmlDeviceGetComputeRunningProcesses_v3", scope_of(device), "processes", value);
  if (error) return error;
  while (*next) {
    char *end;
    unsigned pid = (unsigned)strtoul(next, &end, 10);
    if (end == next) break;
    if (out && found < *count) {
      out[found].pid = pid;
      out[found].used = 1 << 20;
      out[found].gpu_instance = out[found].compute_instance = 0xFFFFFFFF;
    }
    found++;
    next = *end == ',' ? end + 1 : end;
  }
  error = found > *count ? INSUFFICIENT_SIZE : SUCCESS;
  *count = found;
  return error;
}
