/**
 * The supply of interpreters: boots as many as are needed, replaces those that are gone, keeps spares while they are worth
 * their memory.
 *
 * Keeps IP4 of interpreter-pool.ts. Must not know: calls and where they wait.
 */
import { backOffMs } from '../../base/back-off.js';
import type { CallKind } from './call-queue.js';
import type { InterpreterProcess } from './interpreter-process.js';
import type { RuntimeLogger } from './runtime-options.js';
import { SpareNeed } from './spare-need.js';

export interface SupplyOptions {
  readonly interpreters: number;
  readonly spares: number;
  /** How long spares are kept after the last call that may break its interpreter. @default a minute */
  readonly spareQuietMs?: number;
  readonly logger: RuntimeLogger;
  /** Boots one process; called for one at a time. Gives up when the signal fires. */
  readonly boot: (signal: AbortSignal) => Promise<BootedInterpreter>;
}

export interface BootedInterpreter {
  readonly process: InterpreterProcess;
  readonly heapBytes: number;
}

export interface Interpreter extends BootedInterpreter {
  /** The lane of its current call. */
  running: CallKind | null;
  /** True if nothing has run on it since it was last restored, or it is being restored now. */
  isPristine: boolean;
}

export interface SupplyListener {
  /** An interpreter has been added. */
  readonly arrived: () => void;
  /** There is no interpreter, and none could be booted for a while. */
  readonly unavailable: () => void;
}

const SPARE_QUIET_MS = 60_000;
const BOOT_BACK_OFF = { firstMs: 100, lastMs: 5_000 };
const FAILED_BOOTS_UNTIL_UNAVAILABLE = 3;

export class InterpreterSupply {
  readonly #options: SupplyOptions;
  readonly #listener: SupplyListener;
  /** In the order in which they were booted. */
  readonly #interpreters = new Set<Interpreter>();
  /** A spare costs memory. A server whose expressions are all harmless, or that is idle, has none. */
  readonly #spareNeed: SpareNeed;
  readonly #stopping = new AbortController();
  #hasBooted = false;
  #failedBoots = 0;
  #retryTimer: NodeJS.Timeout | null = null;
  #booting: Promise<void> | null = null;
  #replaced = 0;

  constructor(options: SupplyOptions, listener: SupplyListener) {
    this.#options = options;
    this.#listener = listener;
    this.#spareNeed = new SpareNeed(options.spareQuietMs ?? SPARE_QUIET_MS, () =>
      this.#endSpares(),
    );
  }

  get size(): number {
    return this.#interpreters.size;
  }

  get busy(): Interpreter[] {
    return [...this.#interpreters].filter(({ running }) => running !== null);
  }

  get idle(): Interpreter[] {
    return [...this.#interpreters].filter(({ running }) => running === null);
  }

  get replaced(): number {
    return this.#replaced;
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Whether there was an interpreter before, and there is one now or will be soon. */
  get isReady(): boolean {
    return this.#hasBooted && !this.isUnavailable;
  }

  get isUnavailable(): boolean {
    return this.size === 0 && this.#failedBoots >= FAILED_BOOTS_UNTIL_UNAVAILABLE;
  }

  start(): void {
    this.#bootMissing();
  }

  /** Stops booting. Existing interpreters stay until `end`. */
  stop(): void {
    this.#stopping.abort();
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#spareNeed.forget();
  }

  /** After `stop`: resolves when every process is gone. */
  async end(): Promise<void> {
    const processes = [...this.#interpreters].map(({ process }) => process);
    this.#interpreters.clear();
    for (const process of processes) process.kill('the server is stopping');
    await Promise.all([this.#booting, ...processes.map((process) => process.waitForExit())]);
  }

  /** A call is running that may break its interpreter. */
  wantSpares(): void {
    const wasThere = this.#spareNeed.isThere;
    this.#spareNeed.renew();
    // Until the first interpreter is ready, its boot continues with the spares.
    if (!wasThere && this.#hasBooted) this.#bootMissing();
  }

  discard(interpreter: Interpreter): void {
    if (!this.#interpreters.delete(interpreter)) return;
    this.#replaced += 1;
    interpreter.process.kill('the interpreter is replaced');
    this.#spareNeed.renew();
    this.#bootMissing();
  }

  /** The newest are ended, because those that have worked are warm. */
  #endSpares(): void {
    const surplus = Math.max(0, this.size - this.#options.interpreters);
    for (const interpreter of this.idle.reverse().slice(0, surplus)) {
      this.#interpreters.delete(interpreter);
      interpreter.process.kill('the spare interpreter is no longer needed');
    }
  }

  #bootMissing(): void {
    const { interpreters, spares } = this.#options;
    const isComplete = this.size >= interpreters + (this.#spareNeed.isThere ? spares : 0);
    if (this.#booting !== null || this.#retryTimer !== null) return;
    if (this.isStopping || isComplete) return;
    this.#booting = this.#options.boot(this.#stopping.signal).then(
      (booted) => this.#welcome(booted),
      (error: unknown) => this.#retryLater(error),
    );
  }

  #welcome({ process, heapBytes }: BootedInterpreter): void {
    this.#booting = null;
    this.#hasBooted = true;
    this.#failedBoots = 0;
    if (this.isStopping) {
      process.kill('the server is stopping');
      return;
    }
    const interpreter: Interpreter = { process, heapBytes, running: null, isPristine: true };
    this.#interpreters.add(interpreter);
    // The death of a process with a call is also reported by the call; the second report finds it gone.
    process.onExit(() => {
      if (!this.isStopping) this.discard(interpreter);
    });
    this.#listener.arrived();
    // A spare may be ready too late to be useful.
    if (!this.#spareNeed.isThere) this.#endSpares();
    this.#bootMissing();
  }

  #retryLater(error: unknown): void {
    this.#booting = null;
    if (this.isStopping) return;
    this.#failedBoots += 1;
    this.#options.logger.error({ err: error }, 'a Python interpreter did not start');
    if (this.isUnavailable) this.#listener.unavailable();
    const delayMs = backOffMs(this.#failedBoots, BOOT_BACK_OFF);
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null;
      this.#bootMissing();
    }, delayMs);
  }
}
