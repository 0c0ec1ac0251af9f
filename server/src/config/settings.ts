/**
 * All settings of the server: one entry each, with its default, its format and a description.
 *
 * `read-config.ts` reads them from the environment; `docs/configuration.md` lists them in a table (a test compares
 * them).
 */
import { BACKPLANE_SCHEMES } from '../backplane/backplanes.js';
import { LOG_LEVELS } from '../base/logger.js';
import { POSTGRES_SCHEMES } from '../postgres/address.js';
import { STORE_SCHEMES } from '../store/stores.js';
import { ACCESS_SETTINGS } from './access-settings.js';
import {
  databaseUrl,
  flag,
  integer,
  list,
  oneOf,
  origins,
  setting,
  text,
  traceUrl,
  url,
  type Setting,
} from './setting.js';

const unset = { shown: 'unset' } as const;
const DAY_SECONDS = 86_400;

export const SETTINGS = {
  dbhost: setting<string | null>(
    databaseUrl(...STORE_SCHEMES),
    null,
    'Connection string of PostgreSQL (`postgres://` or `postgresql://`) or MongoDB. Unset: the embedded store, one SQLite file under `DATA_DIR`.',
    { ...unset, secret: true },
  ),
  dbhost_listen: setting<string | null>(
    databaseUrl(...POSTGRES_SCHEMES),
    null,
    'Connection string of PostgreSQL for the connection that receives notifications. Required if `dbhost` points to a connection pooler such as PgBouncer: the address of the database itself.',
    { shown: '`dbhost`', secret: true },
  ),
  dbhost_password_file: setting<string | null>(
    text,
    null,
    'File with the password for PostgreSQL, instead of one in `dbhost` and `dbhost_listen`. It is read for each new connection.',
    unset,
  ),
  dbhost_pool_max: setting(
    integer(1, 1000),
    10,
    'Maximum number of connections of one node to PostgreSQL, besides the one that receives notifications.',
  ),
  dbhost_statement_timeout_ms: setting(
    integer(1000, 3_600_000),
    30_000,
    'Time limit of a statement on PostgreSQL, in milliseconds; the database ends slower ones.',
  ),
  redis: setting<string | null>(
    url(...BACKPLANE_SCHEMES),
    null,
    'Redis connection string of the backplane between nodes. Neither a single node nor nodes on PostgreSQL need it.',
    { ...unset, secret: true },
  ),
  port: setting(integer(0, 65_535), 5001, 'Port to listen on; 0 picks any free port.'),
  host: setting(text, '127.0.0.1', 'Address to listen on.'),
  data_dir: setting(text, './data', 'Directory of the embedded store.'),
  secrets_dir: setting<string | null>(
    text,
    null,
    'Directory with secrets, one file each. You also create the file `sealing-key` in it: the key that protects the secrets of webhooks and notifications in the store, with at least 16 characters; without it, they cannot be set up. Unset: the server creates this file in `data_dir`; nodes that share a store need the same one.',
    unset,
  ),
  db_name: setting(
    text,
    'stepwright',
    'Name of the MongoDB database, or of the PostgreSQL database if `dbhost` names none.',
  ),
  log_level: setting(oneOf(LOG_LEVELS), 'info', `Lowest level to log: ${LOG_LEVELS.join(', ')}.`),

  ...ACCESS_SETTINGS,
  allow_insecure: setting(
    flag,
    false,
    'Suppress the warning about listening on a non-loopback address without `auth`.',
  ),

  allowed_hosts: setting<readonly string[]>(
    list,
    [],
    'Host names, separated by commas, that requests may use while `auth` is off, besides loopback names and addresses. `*.name` matches every subdomain.',
    { shown: 'none' },
  ),
  cors_origins: setting<readonly string[]>(
    origins,
    [],
    'Origins, separated by commas, whose pages may call the API from a browser (CORS), such as `https://app.example.com`.',
    { shown: 'none' },
  ),

  environment_allow: setting<readonly string[] | null>(
    list,
    null,
    'Environment variables that expressions can read as `environment`: names separated by commas; `APP_*` matches every name that begins with `APP_`. Unset: with `auth`, only `HOSTNAME`, `LANG`, `LC_ALL` and `TZ`; without `auth`, all. The server’s own settings are never exposed.',
    unset,
  ),
  body_bytes_max: setting(
    integer(1024, 64 * 1024 * 1024),
    1024 * 1024,
    'Maximum size of a request body, in bytes.',
  ),
  yaml_bytes_max: setting(
    integer(1024, 4 * 1024 * 1024),
    256 * 1024,
    'Maximum size of a YAML request body, which is far more expensive to parse, in bytes; at most `body_bytes_max`.',
  ),
  webhook_bytes_max: setting(
    integer(1024, 64 * 1024 * 1024),
    1024 * 1024,
    'Maximum size of the body of a webhook call, which is read before its sender is known, in bytes.',
  ),
  script_bytes_max: setting(
    integer(1024, 4 * 1024 * 1024),
    256 * 1024,
    'Maximum size of a custom step’s script, in bytes; at most `body_bytes_max`.',
  ),
  body_depth_max: setting(
    integer(8, 100),
    100,
    'Maximum nesting depth of objects and lists in a request body.',
  ),
  body_values_max: setting(
    integer(100, 10_000_000),
    200_000,
    'Maximum number of values in a request body, with YAML aliases expanded.',
  ),
  request_timeout_ms: setting(
    integer(100, 3_600_000),
    30_000,
    'Maximum time to receive a request including its body, in milliseconds; slower requests get 408.',
  ),
  headers_timeout_ms: setting(
    integer(100, 600_000),
    10_000,
    'Maximum time to receive the header fields of a request, in milliseconds.',
  ),
  poll_timeout_seconds_max: setting(
    integer(1, 3600),
    120,
    'Maximum time that a worker’s poll waits for work, in seconds.',
  ),
  pollers_max: setting(
    integer(1, 1_000_000),
    10_000,
    'Maximum number of polls that wait on one node at a time.',
  ),
  wait_seconds_max: setting(
    integer(1, 3600),
    120,
    'Maximum time that a call waits for the end of a run, in seconds.',
  ),
  waiting_per_address_max: setting(
    integer(1, 1_000_000),
    5000,
    'Maximum number of waiting calls per client address on one node; further calls get 429.',
  ),
  wrong_tokens_per_minute_max: setting(
    integer(1, 1_000_000_000),
    1000,
    'Maximum number of invalid work tokens per client address and minute; after that, its tokens get 429.',
  ),
  wrong_bearers_per_minute_max: setting(
    integer(1, 1_000_000_000),
    1000,
    'Maximum number of invalid bearer tokens per client address and minute that get 401; after that, they get 429. Valid tokens are always accepted.',
  ),
  wrong_signatures_per_minute_max: setting(
    integer(1, 1_000_000_000),
    1000,
    'Maximum number of webhook calls with invalid signatures per client address and minute; after that, calls get 429 before their body is read. An address that has signed a call rightly in the last day may send ten times as many.',
  ),
  webhook_calls_per_minute_max: setting(
    integer(1, 1_000_000_000),
    6000,
    'Maximum number of valid calls of one webhook per minute on one node; further calls get 429.',
  ),
  lease_seconds_max: setting(
    integer(1, 30 * DAY_SECONDS),
    DAY_SECONDS,
    'Maximum lease of a work item, in seconds; longer requests are reduced to it.',
  ),
  trusted_proxies: setting<readonly string[]>(
    list,
    [],
    'Addresses and networks of trusted proxies, separated by commas: their `X-Forwarded-For` gives the client address.',
    { shown: 'none' },
  ),

  python_processes: setting(
    integer(1, 64),
    1,
    'Number of Python interpreters that evaluate in parallel.',
  ),
  python_spares: setting(
    integer(0, 8),
    1,
    'Number of spare Python interpreters kept warm while scripts run, and for a minute afterwards, to replace one that was stopped.',
  ),
  expression_timeout_ms: setting(
    integer(10, 600_000),
    1000,
    'Time limit for the expressions of a step, in milliseconds.',
  ),
  script_timeout_ms: setting(
    integer(10, 3_600_000),
    5000,
    'Time limit for the script of a custom step, in milliseconds.',
  ),
  python_memory_bytes_max: setting(
    integer(64 * 1024 * 1024, 2 ** 31),
    160 * 1024 * 1024,
    'Maximum memory of one interpreter, in bytes.',
  ),
  python_result_bytes_max: setting(
    integer(1024, 64 * 1024 * 1024),
    2 * 1024 * 1024,
    'Maximum size of the result of one evaluation, in bytes of UTF-8 JSON; unchanged inputs of a script do not count.',
  ),
  python_output_bytes_max: setting(
    integer(0, 16 * 1024 * 1024),
    64 * 1024,
    'Maximum amount of printed output kept from a script, in bytes.',
  ),
  python_recursion_max: setting(
    integer(200, 1000),
    1000,
    'Maximum depth of Python function calls before `RecursionError`.',
  ),
  python_queue_max: setting(
    integer(1, 1_000_000),
    10_000,
    'Maximum number of evaluations that wait for an interpreter; further steps fail with `Overloaded`.',
  ),

  http_timeout_ms: setting(
    integer(10, 3_600_000),
    100_000,
    'Time limit of an HttpRequest without the input Timeout, in milliseconds.',
  ),
  http_timeout_ms_max: setting(
    integer(10, 86_400_000),
    600_000,
    'Maximum time limit of an HttpRequest, in milliseconds; a longer input Timeout is reduced to it. At least `http_timeout_ms`.',
  ),
  http_response_bytes_max: setting(
    integer(1024, 256 * 1024 * 1024),
    2 * 1024 * 1024,
    'Maximum size of a response to an HttpRequest, in bytes.',
  ),
  http_connections_per_host: setting(
    integer(1, 10_000),
    32,
    'Maximum number of concurrent HttpRequests to one host; one definition uses at most three times the number of free slots.',
  ),
  http_connections_max: setting(
    integer(1, 100_000),
    256,
    'Maximum number of concurrent HttpRequests in total, and of their open connections; one definition uses at most three times the number of free slots.',
  ),
  http_allow_private: setting(flag, true, 'Allow HttpRequests to private networks.'),
  http_allow_loopback: setting(flag, true, 'Allow HttpRequests to loopback addresses.'),
  http_allow_hosts: setting<readonly string[] | null>(
    list,
    null,
    'If set, the only hosts that HttpRequests may call, separated by commas.',
    unset,
  ),
  http_deny_hosts: setting<readonly string[]>(
    list,
    [],
    'Hosts that HttpRequests may not call, separated by commas.',
    { shown: 'none' },
  ),

  instances_concurrent_max: setting(
    integer(1, 100_000),
    256,
    'Maximum number of runs that one node advances at the same time.',
  ),
  memory_budget_bytes: setting<number | null>(
    integer(16 * 1024 * 1024, 1024 ** 4),
    null,
    'Maximum memory for loaded runs, request bodies and responses together, in bytes; see [Memory](operations.md#memory).',
    { shown: 'a third of the heap' },
  ),
  instances_parked_max: setting(
    integer(0, 1_000_000),
    2000,
    'Maximum number of waiting runs that one node keeps in memory. If that many runs in memory are busy, further runs started by SubWorkflow steps wait in the store.',
  ),
  descendants_max: setting(
    integer(1, 1_000_000),
    1000,
    'Maximum number of open runs that descend from one run through SubWorkflow steps. A step that would exceed it fails with `TooManyDescendants`.',
  ),
  starts_concurrent_max: setting(
    integer(1, 1_000_000),
    2000,
    'Maximum number of concurrent starts; further starts get 503.',
  ),
  steps_without_wait_max: setting(
    integer(1, 1_000_000_000),
    250_000,
    'Maximum number of steps that a run executes without waiting; then it is suspended.',
  ),
  open_steps_max: setting(
    integer(100, 1_000_000),
    50_000,
    'Maximum number of open steps of one run; beyond it, the run is suspended.',
  ),
  instance_bytes_max: setting(
    integer(64 * 1024, 256 * 1024 * 1024),
    32 * 1024 * 1024,
    'Maximum size of the state of one run (its data and open steps as JSON), in bytes; beyond it, the run is suspended. At most an eighth of `memory_budget_bytes`.',
  ),
  emit_log_lines_per_second_max: setting(
    integer(1, 1_000_000),
    200,
    'Maximum average number of log lines per second from the EmitLog steps of one definition. Bursts of up to ten times as many are allowed; further lines are only counted.',
  ),
  trace_url: setting<string | null>(
    traceUrl,
    null,
    'Address of a trace in your tracing backend, with `{trace_id}` in place of its id, such as `https://jaeger.example.com/trace/{trace_id}`. The operator’s page links runs to it.',
    unset,
  ),
  instance_retention_seconds: setting(
    integer(60, 100 * 365 * DAY_SECONDS),
    30 * DAY_SECONDS,
    'How long ended runs are kept, in seconds.',
  ),
  archive_dir: setting<string | null>(
    text,
    null,
    'Directory to which the server copies ended runs before retention removes them, as one compressed JSON line each. It must exist. Set it on all nodes. Unset: runs are removed without a copy.',
    unset,
  ),
  event_retention_seconds: setting(
    integer(60, 100 * 365 * DAY_SECONDS),
    7 * DAY_SECONDS,
    'How long published events are kept, in seconds.',
  ),
  audit_retention_seconds: setting(
    integer(60, 100 * 365 * DAY_SECONDS),
    365 * DAY_SECONDS,
    'How long entries of the audit log are kept, in seconds, from when they are added.',
  ),
  node_lease_ms: setting(
    integer(1000, 600_000),
    10_000,
    'A node that has sent no heartbeat for this time is presumed dead, in milliseconds.',
  ),
  instance_crashes_max: setting(
    integer(4, 1000),
    5,
    'A run is quarantined after this many nodes in a row died while running it, all but the first two while running nothing else.',
  ),
  shutdown_grace_ms: setting(
    integer(0, 600_000),
    10_000,
    'Grace period for work in progress when the server is stopped, in milliseconds.',
  ),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Config = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer Value>
    ? Value
    : never;
};
