/** One process lifetime: a real host on the shared store, with all external calls through the scheduler. */
import type { Hint } from '../../../src/backplane/backplane.js';
import type { LogFields, Logger, LogMethod } from '../../../src/base/logger.js';
import { FAILED_ATTEMPT_CODE } from '../../../src/runtime/passes/failed-attempts-log.js';
import { RuntimeMetrics } from '../../../src/runtime/fleet/runtime-metrics.js';
import { Host } from '../../../src/runtime/host.js';
import { observeStore } from '../../../src/store/observed-store.js';
import { StoreUnavailableError, type Store } from '../../../src/store/store.js';
import { Violation } from './violation.js';
import { createSimulatedScripts } from './simulated-scripts.js';
import type { Life } from './scheduler.js';
import type { World } from './world.js';

/** Longer than any client repeats its requests. */
const RETENTION_MS = 30_000;
const PURGE_INTERVAL_MS = 5000;

/** One set of counters for all: creating one for each process would cost more than the simulation. */
class SharedMetrics extends RuntimeMetrics {
  override gauge(): void {
    // Gauges read a single host; nobody reads them here.
  }

  override gauges(): void {
    // The same.
  }
}

const METRICS = new SharedMetrics();

/** The result for a caller whose server died. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export class SimulatedNode implements Life {
  readonly name: string;
  skewMs: number;
  dead = false;
  cutOffUntil = 0;
  isReady = false;
  isStopping = false;
  readonly host: Host;
  readonly #world: World;
  readonly #callers = new Set<() => void>();
  #heard: (hint: Hint) => void = () => undefined;

  constructor(world: World, name: string, store: Store) {
    this.#world = world;
    this.name = name;
    const { plan, random, scheduler } = world;
    this.skewMs = plan.skewMs === 0 ? 0 : random.between(-plan.skewMs, plan.skewMs);
    this.host = new Host({
      // Called once, before anything else: a step of the schedule for it would only change the meaning of each seed.
      store: { ...this.#watch(store), probeAtomicity: () => Promise.resolve(true) },
      backplane: {
        kind: plan.hasRedis ? 'redis' : 'local',
        healthy: true,
        publish: (hint) => world.spread(this, hint),
        subscribe: (listener) => {
          this.#heard = listener;
        },
        start: () => Promise.resolve(),
        stop: () => Promise.resolve(),
      },
      scripts: createSimulatedScripts(() =>
        world.isCalm || !random.chance(plan.slowScripts)
          ? null
          : scheduler.park(this, 'other', `${name} expressions`),
      ),
      httpRequest: {
        run: async (_inputs, context) => {
          const result = world.target.call(context);
          await scheduler.park(this, 'other', `${name} effect ${context.idempotencyKey}`);
          return result;
        },
      },
      webhookRequest: {
        run: async (inputs, context) => {
          const result = world.notified.receive(inputs, context);
          await scheduler.park(this, 'other', `${name} message ${context.idempotencyKey}`);
          return result;
        },
      },
      customStep: () => ({
        run: () => Promise.reject(new Violation('no custom steps in simulations')),
      }),
      clock: scheduler.clockOf(this, `${name} timer`),
      ids: world.ids,
      // The same bytes in each repetition of a simulation.
      seal: {
        seal: (secret) => secret,
        open: (sealed) => sealed,
        problem: () => null,
        isExposed: () => false,
      },
      logger: this.#logger(),
      metrics: METRICS,
      node: { id: name, url: '', version: '1', hostname: 'simulated', pid: 1 },
      processIsGone: ({ id }) => plan.sameMachine && world.isGone(id),
      info: { name: 'simulated', version: '1', machineName: 'simulated', osVersion: 'none' },
      settings: {
        stepsWithoutWaitMax: world.stepsWithoutWaitMax,
        openStepsMax: 10_000,
        instanceLengthMax: 32 * 1024 * 1024,
        concurrencyMax: plan.concurrencyMax,
        parkedMax: plan.parkedMax,
        descendantsMax: plan.descendantsMax,
        instanceMemoryMax: plan.instanceMemoryMax,
        startsMax: 1000,
        emitLinesPerSecondMax: 1000,
        waitersMax: 1000,
        webhookCallsPerMinuteMax: 1000,
        instanceRetentionMs: world.removesSoon ? RETENTION_MS : 7 * 86_400_000,
        eventRetentionMs: 7 * 86_400_000,
        auditRetentionMs: 3_600_000_000,
        scanIntervalMs: 2000,
        beatIntervalMs: 2000,
        leaseMs: 6000,
        workLeaseMsMax: 86_400_000,
        drainMs: 2000,
        // Nodes never die here because of what they run; a quarantined instance is a violation. More than in production,
        // because chance kills five nodes in a row that run the same instance.
        crashesMax: 12,
        repairIntervalMs: 5000,
        purgeIntervalMs: world.removesSoon ? PURGE_INTERVAL_MS : 3_600_000,
      },
    });
  }

  /** False if the process ends because it cannot start. */
  async start(): Promise<boolean> {
    try {
      await this.host.start();
    } catch (error) {
      if (error instanceof StoreUnavailableError) return false;
      throw error;
    }
    this.isReady = true;
    return true;
  }

  hear(hint: Hint): void {
    if (!this.dead) this.#heard(hint);
  }

  /** A call of a client: it ends with the node's process, if not before. */
  ask<Value>(call: (host: Host) => Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const hangUp = (): void => reject(new ConnectionLost());
      if (this.dead) {
        hangUp();
        return;
      }
      this.#callers.add(hangUp);
      call(this.host)
        .then(resolve, reject)
        .finally(() => this.#callers.delete(hangUp));
    });
  }

  hangUp(): void {
    for (const caller of [...this.#callers]) caller();
  }

  #watch(store: Store): Store {
    const { random, plan, scheduler } = this.#world;
    const unavailable = (): Error => new StoreUnavailableError('simulated');
    return observeStore(store, {
      before: ({ args, name }) => {
        const first = args[0];
        const on = typeof first === 'string' ? first : idOf(first);
        return scheduler.park(this, 'call', `${this.name} ${name} ${on}`, {
          failure: unavailable,
          late: () => void invoke(store, name, args),
        });
      },
      after: ({ error, name }) => {
        if (error !== null) return undefined;
        const label = `${this.name} answer of ${name}`;
        // The call took effect, but its caller is gone.
        if (this.dead) return scheduler.park(this, 'answer', label);
        if (this.#world.losesAnswer()) {
          scheduler.note(`${label} is lost`);
          throw unavailable();
        }
        if (!plan.splitAnswers || this.#world.isCalm || random.chance(0.5)) return undefined;
        return scheduler.park(this, 'answer', label);
      },
    });
  }

  #logger(): Logger {
    const silent: LogMethod = () => undefined;
    const logger: Logger = {
      trace: silent,
      debug: silent,
      info: silent,
      warn: this.#log('warn'),
      error: this.#log('error'),
      fatal: this.#log('error'),
      child: () => logger,
    };
    return logger;
  }

  #log(level: string): LogMethod {
    return (fields: LogFields | string, message?: string): void => {
      const text = typeof fields === 'string' ? fields : (message ?? '');
      const error = typeof fields === 'string' ? undefined : fields['err'];
      this.#world.scheduler.note(`${this.name} ${level}: ${text}`);
      // A step that failed for the last time is the fault of its author.
      if (typeof fields !== 'string' && fields['code'] === FAILED_ATTEMPT_CODE) return;
      if (level === 'error' && !(error instanceof StoreUnavailableError)) {
        const id = typeof fields === 'string' ? '' : String(fields['workflowId']);
        this.#world.violated(new Violation(`error in the log: ${text} ${id} ${String(error)}`));
      }
    };
  }
}

function invoke(store: Store, name: keyof Store, args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(store, name);
  return typeof method === 'function' ? Reflect.apply(method, store, args) : undefined;
}

function idOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  if ('id' in value && typeof value.id === 'string') return value.id;
  if ('record' in value) return idOf(value.record);
  if (Array.isArray(value)) return value.map(targetOf).join(' ');
  return '';
}

function targetOf(value: unknown): string {
  return typeof value === 'object' && value !== null && 'instanceId' in value
    ? String(value.instanceId)
    : '';
}
