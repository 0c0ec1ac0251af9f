/** The limits of the parts of the server, taken from the settings. Only `settings.ts` has the defaults. */
import type { ApiLimits } from '../api/http/api-limits.js';
import type { Config } from './settings.js';

export function apiLimits(config: Config): ApiLimits {
  return {
    bodyBytesMax: config.body_bytes_max,
    yamlBytesMax: Math.min(config.yaml_bytes_max, config.body_bytes_max),
    scriptBytesMax: Math.min(config.script_bytes_max, config.body_bytes_max),
    webhookBytesMax: config.webhook_bytes_max,
    bodyDepthMax: config.body_depth_max,
    bodyNodesMax: config.body_values_max,
    yamlTokensMax: 100_000,
    yamlAliasesMax: 100,
    pollTimeoutSecondsMax: config.poll_timeout_seconds_max,
    waitSecondsMax: config.wait_seconds_max,
    leaseSecondsMax: config.lease_seconds_max,
    waitingPerAddressMax: config.waiting_per_address_max,
    wrongTokensPerMinuteMax: config.wrong_tokens_per_minute_max,
    wrongBearersPerMinuteMax: config.wrong_bearers_per_minute_max,
    wrongSignaturesPerMinuteMax: config.wrong_signatures_per_minute_max,
  };
}

/** The limits of evaluations, and the number of interpreters. */
export function pythonLimits(config: Config) {
  return {
    interpreters: config.python_processes,
    spares: config.python_spares,
    expressionTimeoutMs: config.expression_timeout_ms,
    scriptTimeoutMs: config.script_timeout_ms,
    memoryLimitBytes: config.python_memory_bytes_max,
    resultLimitBytes: config.python_result_bytes_max,
    outputLimitBytes: config.python_output_bytes_max,
    recursionMax: config.python_recursion_max,
    queueLimit: config.python_queue_max,
  };
}

/** The limits of HttpRequest steps. */
export function httpLimits(config: Config) {
  return {
    timeoutMs: config.http_timeout_ms,
    timeoutMsMax: Math.max(config.http_timeout_ms_max, config.http_timeout_ms),
    responseBytesMax: config.http_response_bytes_max,
    connectionsPerHost: config.http_connections_per_host,
    connectionsMax: config.http_connections_max,
  };
}
