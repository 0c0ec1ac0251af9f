/**
 * Every setting of the server: one entry each, with its default, its form and a sentence.
 *
 * `read-config.ts` reads them from the environment, `docs/configuration.md` shows them as a table (a test keeps it true).
 */
import { TOKEN_ALGORITHMS } from '../api/tokens.js';
import { BACKPLANE_SCHEMES } from '../backplane/backplanes.js';
import { LOG_LEVELS } from '../base/logger.js';
import { STORE_SCHEMES } from '../store/stores.js';

/** How a text from the environment becomes a value. @throws Error that says what was expected */
type Reader<Value> = (text: string) => Value;

export interface Setting<Value> {
  readonly read: Reader<Value>;
  readonly fallback: Value;
  /** How the default is shown. */
  readonly shown: string;
  readonly meaning: string;
  /** Its value is never shown, and never reaches `environment` in expressions. */
  readonly secret?: true;
}

const text: Reader<string> = (value) => value;

function integer(min: number, max: number): Reader<number> {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    throw new Error(`must be a whole number from ${min} to ${max}`);
  };
}

const flag: Reader<boolean> = (value) => {
  const known = FLAGS[value.toLowerCase()];
  if (known !== undefined) return known;
  throw new Error('must be true or false');
};

const FLAGS: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  on: true,
  false: false,
  '0': false,
  no: false,
  off: false,
};

function oneOf<const Choice extends string>(choices: readonly Choice[]): Reader<Choice> {
  return (value) => {
    const found = choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
    if (found !== undefined) return found;
    throw new Error(`must be one of ${choices.join(', ')}`);
  };
}

const list: Reader<readonly string[]> = (value) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** As browsers write them: a scheme and a host, perhaps a port, and no path. */
const origins: Reader<readonly string[]> = (value) => {
  const entries = list(value);
  for (const entry of entries) {
    if (URL.canParse(entry) && new URL(entry).origin === entry) continue;
    throw new Error('must be origins such as https://app.example.com, separated by commas');
  }
  return entries;
};

function url(...protocols: readonly string[]): Reader<string> {
  return (value) => {
    if (protocols.some((protocol) => value.startsWith(`${protocol}://`))) return value;
    throw new Error(
      `must begin with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
    );
  };
}

function setting<Value>(
  read: Reader<Value>,
  fallback: Value,
  meaning: string,
  options: { readonly shown?: string; readonly secret?: true } = {},
): Setting<Value> {
  const { shown = String(fallback), ...rest } = options;
  return { read, fallback, shown, meaning, ...rest };
}

const unset = { shown: 'unset' } as const;
const DAY_SECONDS = 86_400;

export const SETTINGS = {
  dbhost: setting<string | null>(
    url(...STORE_SCHEMES),
    null,
    'MongoDB connection string. Unset: the embedded store, one SQLite file under `DATA_DIR`.',
    { ...unset, secret: true },
  ),
  redis: setting<string | null>(
    url(...BACKPLANE_SCHEMES),
    null,
    'Redis connection string of the backplane between nodes. A single node needs none.',
    { ...unset, secret: true },
  ),
  port: setting(integer(0, 65_535), 5001, 'Port that the server listens on; 0 takes any free one.'),
  host: setting(text, '127.0.0.1', 'Address that the server listens on.'),
  data_dir: setting(text, './data', 'Folder of the embedded store.'),
  db_name: setting(text, 'stepwright', 'Name of the database in MongoDB.'),
  log_level: setting(oneOf(LOG_LEVELS), 'info', `How much is logged: ${LOG_LEVELS.join(', ')}.`),

  auth: setting(flag, false, 'Demand a bearer token (JWT) for every call.'),
  alg: setting(oneOf(TOKEN_ALGORITHMS), 'RS256', 'The one algorithm that tokens are signed with.'),
  publickey: setting<string | null>(
    text,
    null,
    'Public key that tokens are checked with: PEM, or base64 of its DER form.',
    { ...unset, secret: true },
  ),
  auth_issuer: setting<string | null>(
    text,
    null,
    'When set, the issuer (`iss`) tokens must name.',
    unset,
  ),
  auth_audience: setting<string | null>(
    text,
    null,
    'When set, the audience (`aud`) tokens must name.',
    unset,
  ),
  token_lifetime_seconds_max: setting(
    integer(1, 100 * 366 * DAY_SECONDS),
    366 * DAY_SECONDS,
    'Bearer tokens that expire later than this from now are refused, in seconds.',
  ),
  allow_insecure: setting(
    flag,
    false,
    'Do not warn when the server listens beyond this machine without `auth`.',
  ),

  allowed_hosts: setting<readonly string[]>(
    list,
    [],
    'Host names, separated by commas, under which the server may be called while `auth` is off, besides loopback names and addresses. `*.name` is every name below.',
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
    'Environment variables that `environment` in expressions shows: names separated by commas; `APP_*` is every name that begins with `APP_`. Unset: `HOSTNAME`, `LANG`, `LC_ALL` and `TZ` with `auth`, everything without. The server’s own settings are never shown.',
    unset,
  ),
  body_bytes_max: setting(
    integer(1024, 64 * 1024 * 1024),
    1024 * 1024,
    'Largest request body in bytes.',
  ),
  yaml_bytes_max: setting(
    integer(1024, 4 * 1024 * 1024),
    256 * 1024,
    'Largest request body in YAML, which costs far more to read, in bytes; at most `body_bytes_max`.',
  ),
  script_bytes_max: setting(
    integer(1024, 4 * 1024 * 1024),
    256 * 1024,
    'Largest script of a custom step in bytes; at most `body_bytes_max`.',
  ),
  body_depth_max: setting(
    integer(8, 100),
    100,
    'How deep objects and lists may be nested in a request body.',
  ),
  body_values_max: setting(
    integer(100, 10_000_000),
    200_000,
    'How many values a request body may hold, YAML aliases expanded.',
  ),
  request_timeout_ms: setting(
    integer(100, 3_600_000),
    30_000,
    'How long a request with its body may take to arrive, in milliseconds; then it is answered with 408.',
  ),
  headers_timeout_ms: setting(
    integer(100, 600_000),
    10_000,
    'How long the header fields of a request may take to arrive, in milliseconds.',
  ),
  poll_timeout_seconds_max: setting(
    integer(1, 3600),
    120,
    'Longest wait of a worker for work, in seconds.',
  ),
  pollers_max: setting(
    integer(1, 1_000_000),
    10_000,
    'Workers that may wait on one node at a time.',
  ),
  wait_seconds_max: setting(
    integer(1, 3600),
    120,
    'Longest wait for the end of a workflow, in seconds.',
  ),
  waiting_per_address_max: setting(
    integer(1, 1_000_000),
    5000,
    'Calls of one client address that may wait on one node at a time; more are refused with 429.',
  ),
  wrong_tokens_per_minute_max: setting(
    integer(1, 1_000_000_000),
    1000,
    'Wrong work tokens that one client address may send in a minute; then its tokens are refused with 429.',
  ),
  wrong_bearers_per_minute_max: setting(
    integer(1, 1_000_000_000),
    1000,
    'Wrong bearer tokens of one client address in a minute that are answered with 401; more with 429. Valid ones always pass.',
  ),
  lease_seconds_max: setting(
    integer(1, 30 * DAY_SECONDS),
    DAY_SECONDS,
    'Longest lease of a work item, in seconds; a worker that asks for more gets this.',
  ),
  trusted_proxies: setting<readonly string[]>(
    list,
    [],
    'Addresses and networks of proxies, separated by commas, whose `X-Forwarded-For` says who the client is.',
    { shown: 'none' },
  ),

  python_processes: setting(integer(1, 64), 1, 'Python interpreters that evaluate side by side.'),
  python_spares: setting(
    integer(0, 8),
    1,
    'Python interpreters kept warm while scripts run, and a minute longer, to replace one that was ended.',
  ),
  expression_timeout_ms: setting(
    integer(10, 600_000),
    1000,
    'Longest time for the expressions of a step, in milliseconds.',
  ),
  script_timeout_ms: setting(
    integer(10, 3_600_000),
    5000,
    'Longest time for the script of a custom step, in milliseconds.',
  ),
  python_memory_bytes_max: setting(
    integer(64 * 1024 * 1024, 2 ** 31),
    160 * 1024 * 1024,
    'Memory of one interpreter in bytes.',
  ),
  python_result_bytes_max: setting(
    integer(1024, 64 * 1024 * 1024),
    2 * 1024 * 1024,
    'Largest result of one evaluation in bytes of JSON in UTF-8; unchanged inputs of a script do not count.',
  ),
  python_output_bytes_max: setting(
    integer(0, 16 * 1024 * 1024),
    64 * 1024,
    'How much of what a script prints is kept, in bytes.',
  ),
  python_recursion_max: setting(
    integer(200, 1000),
    1000,
    'How deep Python functions may call each other before `RecursionError`.',
  ),
  python_queue_max: setting(
    integer(1, 1_000_000),
    10_000,
    'Evaluations that may wait for an interpreter; steps beyond that fail with `Overloaded`.',
  ),

  http_timeout_ms: setting(
    integer(10, 3_600_000),
    100_000,
    'Time limit of an HttpRequest without the input Timeout, in milliseconds.',
  ),
  http_timeout_ms_max: setting(
    integer(10, 86_400_000),
    600_000,
    'Longest time limit of an HttpRequest, in milliseconds; a longer input Timeout is cut to it. At least `http_timeout_ms`.',
  ),
  http_response_bytes_max: setting(
    integer(1024, 256 * 1024 * 1024),
    2 * 1024 * 1024,
    'Largest answer to an HttpRequest in bytes.',
  ),
  http_connections_per_host: setting(
    integer(1, 10_000),
    32,
    'HttpRequests under way to one host at a time; one definition has at most three times as many as are free.',
  ),
  http_connections_max: setting(
    integer(1, 100_000),
    256,
    'HttpRequests under way at a time in all, and connections open for them; one definition has at most three times as many as are free.',
  ),
  http_allow_private: setting(flag, true, 'HttpRequests may go to private networks.'),
  http_allow_loopback: setting(flag, true, 'HttpRequests may go to this machine.'),
  http_allow_hosts: setting<readonly string[] | null>(
    list,
    null,
    'When set, the only hosts that HttpRequests may go to, separated by commas.',
    unset,
  ),
  http_deny_hosts: setting<readonly string[]>(
    list,
    [],
    'Hosts that HttpRequests never go to, separated by commas.',
    { shown: 'none' },
  ),

  instances_concurrent_max: setting(
    integer(1, 100_000),
    256,
    'Instances that one node works on at the same time.',
  ),
  memory_budget_bytes: setting<number | null>(
    integer(16 * 1024 * 1024, 1024 ** 4),
    null,
    'Memory that workflows in memory, bodies of requests and answers may take together, in bytes; see [Memory](operations.md#memory).',
    { shown: 'a third of the heap' },
  ),
  instances_parked_max: setting(
    integer(0, 1_000_000),
    2000,
    'Waiting instances that one node keeps in memory. With so many in memory that are busy, further workflows that SubWorkflow steps started wait in the store.',
  ),
  descendants_max: setting(
    integer(1, 1_000_000),
    1000,
    'Open workflows that descend from one workflow by SubWorkflow steps. A step that would start one more fails with `TooManyDescendants`.',
  ),
  starts_concurrent_max: setting(
    integer(1, 1_000_000),
    2000,
    'Starts under way at the same time; more are refused with 503.',
  ),
  steps_without_wait_max: setting(
    integer(1, 1_000_000_000),
    250_000,
    'Steps an instance may run without waiting for anything before it is suspended.',
  ),
  open_steps_max: setting(
    integer(100, 1_000_000),
    50_000,
    'Steps of one instance that may be open at the same time before it is suspended.',
  ),
  instance_bytes_max: setting(
    integer(64 * 1024, 256 * 1024 * 1024),
    32 * 1024 * 1024,
    'Largest state of one instance (its data and its open steps as JSON) in bytes; one that grows beyond it is suspended. At most an eighth of `memory_budget_bytes`.',
  ),
  emit_log_lines_per_second_max: setting(
    integer(1, 1_000_000),
    200,
    'Log lines of EmitLog steps that one definition may write in a second on average; ten times as many may come at once, the rest is only counted.',
  ),
  instance_retention_seconds: setting(
    integer(60, 100 * 365 * DAY_SECONDS),
    30 * DAY_SECONDS,
    'How long ended instances are kept, in seconds.',
  ),
  event_retention_seconds: setting(
    integer(60, 100 * 365 * DAY_SECONDS),
    7 * DAY_SECONDS,
    'How long published events are kept, in seconds.',
  ),
  node_lease_ms: setting(
    integer(1000, 600_000),
    10_000,
    'A node that gave no sign of life for so long is taken for dead, in milliseconds.',
  ),
  instance_crashes_max: setting(
    integer(4, 1000),
    5,
    'A workflow is suspended after so many nodes in a row died while it was under work, all but the first two while they ran it alone.',
  ),
  shutdown_grace_ms: setting(
    integer(0, 600_000),
    10_000,
    'How long work in hand may take to end when the server is told to stop, in milliseconds.',
  ),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Config = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer Value>
    ? Value
    : never;
};
