/**
 * Puts the host together, which is a server without HTTP: the file that names concrete adapters, except that
 * `store/stores.ts` and `backplane/backplanes.ts` know which address means which.
 *
 * The HTTP client is much JavaScript, so it is loaded by those servers only that use it.
 */
import { randomBytes } from 'node:crypto';
import { hostname, release, type } from 'node:os';
import { join } from 'node:path';
import { exportText } from './api/wire/map/export.js';
import { httpLimits } from './config/limits.js';
import { ConfigError } from './base/config-error.js';
import { secretVariables } from './config/read-config.js';
import { WeightedQueue } from './base/limits/weighted-queue.js';
import type { Logger } from './base/logger.js';
import { defaultBudget, memoryBudget, type MemoryBudget } from './base/memory-budget.js';
import { systemClock, type Clock } from './base/clock.js';
import { systemIds, type Ids } from './base/ids.js';
import { createSeal, type Seal } from './base/seal.js';
import { processIsGone } from './runtime/fleet/node-registry.js';
import { RuntimeMetrics } from './runtime/fleet/runtime-metrics.js';
import type { HostSettings } from './runtime/node-options.js';
import { SharedClock } from './runtime/fleet/shared-clock.js';
import { Host, type HostOptions } from './runtime/host.js';
import { createScripts } from './compose-scripts.js';
import type { CallMoment } from './scripts/pyodide/frames.js';
import type { ScriptRuntime } from './scripts/script-runtime.js';
import type { Config } from './config/settings.js';
import { createCustomStepBody } from './step-bodies/custom-step.js';
import { CallMemory } from './step-bodies/call-memory.js';
import type { HttpRequestOptions } from './step-bodies/http-request.js';
import { createAddressPolicy } from './step-bodies/http-request/address-policy.js';
import type { StepBody } from './step-bodies/step-body.js';
import type { Backplane } from './backplane/backplane.js';
import { createBackplane, type BackplaneOptions } from './backplane/backplanes.js';
import { storeAt, type StoreChoice } from './store/stores.js';
import { boundSearches } from './store/bounded-searches.js';
import { observeStore } from './store/observed-store.js';
import type { Store } from './store/store.js';
import { SecretMasker } from './runtime/secrets/secret-masker.js';
import { createSecretSource, NO_SECRETS, type SecretSource } from './secrets/secret-source.js';
import { SERVER_NAME, SERVER_VERSION } from './base/version.js';
import { isTracingOn } from './tracing/tracing-settings.js';
import type { Tracing } from './tracing/tracing.js';

export interface ComposeOptions {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Tests put something between the server and its store: faults, counters. */
  readonly wrapStore?: (store: Store) => Store;
  /** Tests bring a store of their own. */
  readonly store?: Store;
  /** Tests of many servers in one process share one. */
  readonly scripts?: ScriptRuntime;
  /** Everything that is a clock or random, where time is virtual. @default the machine's */
  readonly random?: RandomSource;
  /** Null: a server that only checks definitions, and knows no secrets. @default those of the settings */
  readonly secretSource?: SecretSource | null;
  /** What steps do outside the server, where it is replaced. */
  readonly replaceBodies?: (bodies: ExternalBodies) => ExternalBodies;
  /** Changes intervals and limits that are no settings. */
  readonly hostSettings?: Partial<HostSettings>;
  /** Simulations carry hints themselves. */
  readonly createBackplane?: (options: BackplaneOptions) => Backplane;
}

/** A page of the operator asks for ten at a time; a caller that sends more than these at once does not wait for their answers. */
const WAITING_SEARCHES = { waitingMax: 1000, waitingPerCallerMax: 100 } as const;

/** What makes two equal runs differ: time and random numbers. */
export interface RandomSource {
  readonly clock: Clock;
  readonly ids: Ids;
  /** The time and the random numbers of the next call of Python. */
  readonly nextMoment: () => CallMoment;
}

/** The bodies of steps that act outside the engine. */
export type ExternalBodies = Pick<HostOptions, 'customStep' | 'httpRequest'>;

export interface ComposedHost {
  readonly host: Host;
  readonly metrics: RuntimeMetrics;
  readonly budget: MemoryBudget;
  readonly callMemory: CallMemory;
  /** Undefined: this server records no traces. */
  readonly tracing?: Tracing;
}

/** @throws ConfigError when a setting cannot be used */
export async function composeHost(options: ComposeOptions): Promise<ComposedHost> {
  const { config, logger } = options;
  const metrics = new RuntimeMetrics();
  const budget = memoryBudget(config.memory_budget_bytes ?? defaultBudget());
  logger.debug({ ...budget }, 'memory budget');
  const scripts = options.scripts ?? createScripts(options);
  const callMemory = new CallMemory(budget.calls);
  const nodeId = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  // Nodes on an embedded store are on one machine, and have its clock.
  const storeChoice = storeAt(config.dbhost);
  const sharedClock = storeChoice.isRemote ? new SharedClock(logger) : null;
  const clock = options.random?.clock ?? sharedClock ?? systemClock;
  const calls = { clock, memory: callMemory };
  const store = await chooseStore(options, storeChoice, sharedClock);
  const turns = storeChoice.searches({ poolMax: config.dbhost_pool_max });
  const searches = new WeightedQueue({
    limit: turns.turnsMax,
    limitPerCaller: turns.turnsPerCallerMax,
    ...WAITING_SEARCHES,
  });
  const secretSource = secretsOf(options);
  const tracing = await tracingOf(options, nodeId);
  const host = new Host({
    store: bounded(
      traced(measured(options.wrapStore?.(store) ?? store, metrics), tracing),
      searches,
      metrics,
    ),
    backplane: await (options.createBackplane ?? createBackplane)({
      address: config.redis,
      notifications: notificationsOf(store, config),
      databaseName: config.db_name,
      nodeId,
      logger,
    }),
    scripts,
    ...outsideBodies(options, maskedScripts(scripts, secretSource, config), calls),
    ...(secretSource !== null && { secretSource }),
    clock,
    ids: options.random?.ids ?? systemIds,
    // Connections of their own: targets do not keep steps waiting.
    webhookRequest: createHttpRequest(config, logger, { ...calls, ...WEBHOOK_LIMITS }),
    seal: sealOf(config, logger),
    logger,
    metrics,
    ...archiveOf(config),
    node: thisNode(nodeId, config),
    processIsGone: (node) => processIsGone(node, { hostname: hostname(), pid: process.pid }),
    info: serverInfo(),
    settings: { ...hostSettings(config, budget), ...options.hostSettings },
    ...tracing,
  });
  return { host, metrics, budget, callMemory, ...tracing };
}

/** The SDK is much JavaScript, and optional: only servers that record traces load it. */
async function tracingOf(
  { config, environment, logger }: ComposeOptions,
  nodeId: string,
): Promise<{ readonly tracing?: Tracing }> {
  if (!isTracingOn(environment)) return {};
  const { createTracing } = await import('./tracing/open-telemetry.js');
  const recordsStoreCalls = config.log_level === 'debug' || config.log_level === 'trace';
  return { tracing: await createTracing({ environment, nodeId, logger, recordsStoreCalls }) };
}

/** What calls share with the rest of the server. */
type CallParts = Required<Pick<HttpRequestOptions, 'clock' | 'memory'>>;

function outsideBodies(
  { config, logger, replaceBodies }: ComposeOptions,
  scripts: Pick<ScriptRuntime, 'runScript'>,
  parts: CallParts,
): ExternalBodies {
  const bodies: ExternalBodies = {
    httpRequest: createHttpRequest(config, logger, parts),
    customStep: (find) => createCustomStepBody({ scripts, find, logger, memory: parts.memory }),
  };
  return replaceBodies?.(bodies) ?? bodies;
}

function secretsOf({ config, environment, secretSource }: ComposeOptions): SecretSource | null {
  if (secretSource !== undefined) return secretSource;
  const variables = secretVariables(environment);
  return createSecretSource({ directory: config.secrets_dir, variables });
}

/** What scripts print and return comes back without the values of secrets, before anything logs it. */
function maskedScripts(
  scripts: ScriptRuntime,
  source: SecretSource | null,
  { python_output_bytes_max: outputBytesMax }: Config,
): Pick<ScriptRuntime, 'runScript'> {
  const masker = new SecretMasker(source ?? NO_SECRETS);
  return {
    async runScript(text, inputs, options) {
      const result = await scripts.runScript(text, inputs, options);
      return masker.script(result, inputs, outputBytesMax);
    },
  };
}

function thisNode(id: string, { host, port }: Config): HostOptions['node'] {
  return {
    id,
    url: `http://${host}:${port}`,
    version: SERVER_VERSION,
    hostname: hostname(),
    pid: process.pid,
  };
}

function serverInfo(): HostOptions['info'] {
  return {
    name: SERVER_NAME,
    version: SERVER_VERSION,
    machineName: hostname(),
    osVersion: `${type()} ${release()}`,
  };
}

async function chooseStore(
  { config, logger, store }: ComposeOptions,
  choice: StoreChoice,
  clock: SharedClock | null,
): Promise<Store> {
  if (store !== undefined) return store;
  return choice.create({
    address: config.dbhost ?? '',
    databaseName: config.db_name,
    dataDir: config.data_dir,
    passwordFile: config.dbhost_password_file,
    poolMax: config.dbhost_pool_max,
    statementTimeoutMs: config.dbhost_statement_timeout_ms,
    logger,
    onServerTime: (time, roundTripMs) => clock?.adjust(time, roundTripMs),
  });
}

/** Null where the server of the store carries no hints. */
function notificationsOf(store: Store, config: Config): BackplaneOptions['notifications'] {
  const { dbhost: storeAddress } = config;
  if (store.notify === undefined || storeAddress === null) return null;
  return {
    storeAddress,
    address: config.dbhost_listen ?? storeAddress,
    passwordFile: config.dbhost_password_file,
    notify: store.notify.bind(store),
  };
}

function measured(store: Store, metrics: RuntimeMetrics): Store {
  return observeStore(store, {
    after: ({ durationMs, error, name }) =>
      metrics.storeOperation(name, durationMs, error === null),
  });
}

/** Outermost, so that a search is measured from its turn on. */
function bounded(store: Store, queue: WeightedQueue, metrics: RuntimeMetrics): Store {
  metrics.gauge(
    'stepwright_searches_waiting',
    'Searches of the store that wait for a turn.',
    () => queue.waiting,
  );
  return boundSearches(store, { queue, refused: (of) => metrics.searchRefused(of) });
}

function traced(store: Store, { tracing }: { readonly tracing?: Tracing }): Store {
  const calls = tracing?.storeCalls ?? null;
  return calls === null ? store : observeStore(store, calls.observer(store.kind));
}

/** Tests bring them. */
export { createLocalBackplane } from './backplane/local-backplane.js';
export { createMemoryStore } from './store/memory/memory-store.js';

/** The first call takes a moment longer. */
function createHttpRequest(
  config: Config,
  logger: Logger,
  own: CallParts & Partial<HttpRequestOptions>,
): StepBody {
  const options: HttpRequestOptions = {
    ...httpLimits(config),
    allowPrivate: config.http_allow_private,
    allowLoopback: config.http_allow_loopback,
    allowHosts: config.http_allow_hosts,
    denyHosts: config.http_deny_hosts,
    logger,
    ...own,
  };
  try {
    createAddressPolicy(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`http_allow_hosts or http_deny_hosts: ${reason}`);
  }
  const load = async (): Promise<StepBody> => {
    const { createHttpRequestBody } = await import('./step-bodies/http-request.js');
    return createHttpRequestBody(options);
  };
  let loading: Promise<StepBody> | null = null;
  return {
    async run(inputs, context) {
      loading ??= load();
      return (await loading).run(inputs, context);
    },
  };
}

/** Targets of notifications answer with few bytes, and many of them may be slow at the same time. */
const WEBHOOK_LIMITS = {
  responseBytesMax: 64 << 10,
  connectionsPerHost: 64,
  connectionsMax: 1000,
} as const;

/** Says at the start what is wrong with the key, not only to whoever first sets up a webhook or a notification. */
function sealOf({ data_dir: dataDir, secrets_dir: secretsDir }: Config, logger: Logger): Seal {
  const keyFile = join(secretsDir ?? dataDir, 'sealing-key');
  const seal = createSeal({ keyFile, creates: secretsDir === null });
  const problem = seal.problem();
  if (problem !== null) {
    logger.warn({ keyFile }, `webhooks and notifications cannot be set up: ${problem}`);
  }
  if (seal.isExposed()) {
    logger.warn(
      { keyFile },
      `other users of this machine may read ${keyFile}, which protects secrets in the store; to prevent it: chmod o= ${keyFile}`,
    );
  }
  return seal;
}

function archiveOf({ archive_dir: directory }: Config): Pick<HostOptions, 'archive'> {
  return directory === null ? {} : { archive: { directory, textOf: exportText } };
}

function hostSettings(config: Config, budget: MemoryBudget): HostSettings {
  return {
    stepsWithoutWaitMax: config.steps_without_wait_max,
    openStepsMax: config.open_steps_max,
    instanceLengthMax: Math.min(config.instance_bytes_max, budget.stateMax),
    concurrencyMax: config.instances_concurrent_max,
    parkedMax: config.instances_parked_max,
    descendantsMax: config.descendants_max,
    instanceMemoryMax: budget.instances,
    startsMax: config.starts_concurrent_max,
    emitLinesPerSecondMax: config.emit_log_lines_per_second_max,
    waitersMax: config.pollers_max,
    webhookCallsPerMinuteMax: config.webhook_calls_per_minute_max,
    instanceRetentionMs: config.instance_retention_seconds * 1000,
    eventRetentionMs: config.event_retention_seconds * 1000,
    auditRetentionMs: config.audit_retention_seconds * 1000,
    scanIntervalMs: 2000,
    beatIntervalMs: Math.min(4000, Math.floor(config.node_lease_ms / 3)),
    leaseMs: config.node_lease_ms,
    workLeaseMsMax: config.lease_seconds_max * 1000,
    // The rest of the grace is for what comes after: the last commits, and telling others.
    drainMs: config.shutdown_grace_ms * 0.8,
    crashesMax: config.instance_crashes_max,
    repairIntervalMs: 15_000,
    purgeIntervalMs: 60_000,
  };
}
