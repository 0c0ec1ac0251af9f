/**
 * The interpreters of one server: assigns calls to them, and decides what happens to both.
 *
 * Owns: which call goes to which process. interpreter-supply.ts decides which processes exist, call-queue.ts in which order
 * calls wait, call-consequences.ts what the end of a call means. Must not know: Python, expressions, scripts.
 *
 *  IP1 One process has one call at a time. At most `interpreters` of them are busy at the same time; if that is one, one
 *      more may run expressions while it is busy with a script. The others are spares: identical, but waiting.
 *  IP2 A process that misbehaved is never used again: it died, did not respond, sent an unreadable response, called a
 *      closed host function, or trapped. A spare takes its place immediately.
 *  IP3 Every call ends exactly once: with a result, an error, or `Unavailable` if there is no interpreter.
 *  IP4 Processes boot one after another, so that the first is ready soon on a machine with few cores. A failed boot is
 *      repeated, with increasing pauses.
 */
import { LRUCache } from 'lru-cache';
import type { ScriptError } from '../script-runtime.js';
import { CallQueue, type CallKind } from './call-queue.js';
import type { CallEnd } from './interpreter-process.js';
import { InterpreterSupply, type Interpreter, type SupplyOptions } from './interpreter-supply.js';
import { isTimeout, type EndedCallOptions } from './call-consequences.js';
import { aborted, unavailable, type CallResult, type PoolCall } from './pool-call.js';
import { queueCall, type QueuedCall } from './queued-call.js';

export interface PoolOptions extends SupplyOptions, EndedCallOptions {
  readonly queueLimit: number;
}

export interface PoolStatistics {
  readonly interpreters: number;
  readonly busy: number;
  readonly queued: number;
  readonly replaced: number;
  readonly timeouts: number;
}

/** How long owners of slow expressions are remembered, and how many of them. */
const SLOW_MS = 10 * 60_000;
const SLOW_OWNERS_MAX = 1_000;
/** Memory never shrinks; an interpreter that has grown by this much is replaced by a fresh one. */
const GROWTH_LIMIT_BYTES = 64 * (1 << 20);

export class InterpreterPool {
  readonly #options: PoolOptions;
  readonly #supply: InterpreterSupply;
  readonly #queue: CallQueue<QueuedCall>;
  readonly #slowOwners = new LRUCache<string, true>({ max: SLOW_OWNERS_MAX, ttl: SLOW_MS });
  /** The interpreter of each running call. */
  readonly #holders = new Map<QueuedCall, Interpreter>();
  #timeouts = 0;
  #idleAgain: (() => void) | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#queue = new CallQueue(options.queueLimit);
    this.#supply = new InterpreterSupply(options, {
      arrived: () => this.#dispatch(),
      unavailable: () => this.#refuseAll('no Python interpreter could be started'),
    });
  }

  /** Whether calls are served: immediately, or soon if an interpreter is being replaced. */
  get isReady(): boolean {
    return this.#supply.isReady;
  }

  get statistics(): PoolStatistics {
    return {
      interpreters: this.#supply.size,
      busy: this.#holders.size,
      queued: this.#queue.size,
      replaced: this.#supply.replaced,
      timeouts: this.#timeouts,
    };
  }

  /** Starts booting; calls may arrive earlier, and wait. */
  start(): void {
    this.#supply.start();
  }

  /** Ends waiting calls, lets running ones finish, then ends the processes. */
  async stop(): Promise<void> {
    this.#supply.stop();
    this.#refuseAll('the server is stopping');
    // Bounded: every running call has a deadline.
    if (this.#holders.size > 0) await new Promise<void>((resolve) => (this.#idleAgain = resolve));
    await this.#supply.end();
  }

  run<Answer>(call: PoolCall<Answer>): Promise<CallResult<Answer>> {
    if (call.isRisky) this.#supply.wantSpares();
    return new Promise((resolve) => {
      const queued = this.#prepare(call, resolve);
      const refusal = this.#findRefusal(call.signal);
      if (refusal !== null) {
        queued.refuse(refusal);
      } else if (this.#queue.push(queued.lane, queued, queued.owner)) {
        this.#dispatch();
      } else {
        const message = `${this.#options.queueLimit} calls are already waiting for Python`;
        queued.refuse({ type: 'Overloaded', message });
      }
    });
  }

  #findRefusal(signal: AbortSignal | undefined): ScriptError | null {
    if (this.#supply.isStopping) return unavailable('the server is stopping');
    if (signal?.aborted === true) return aborted();
    return this.#supply.isUnavailable
      ? unavailable('no Python interpreter could be started')
      : null;
  }

  #prepare<Answer>(
    call: PoolCall<Answer>,
    resolve: (result: CallResult<Answer>) => void,
  ): QueuedCall {
    const { resultLimitBytes, logger } = this.#options;
    return queueCall(call, {
      resultLimitBytes,
      logger,
      lane: this.#slowOwners.has(call.owner ?? '') ? 'scripts' : call.lane,
      isStopping: () => this.#supply.isStopping,
      aborted: (queued) => {
        if (!this.#queue.remove(queued)) this.#holders.get(queued)?.process.giveUpCall();
      },
      resolve,
    });
  }

  #dispatch(): void {
    for (;;) {
      const lanes = this.#openLanes();
      const call = lanes.length === 0 ? undefined : this.#queue.shift(lanes);
      if (call === undefined) return;
      const interpreter = this.#chooseFor(call);
      // Never happens: #openLanes() saw an idle one.
      if (interpreter === undefined) {
        this.#queue.putBack(call.lane, call, call.owner);
        return;
      }
      void this.#hold(interpreter, call);
    }
  }

  /** Scripts may take long: they never take the last of several interpreters, and a spare replaces a single one. */
  #openLanes(): readonly CallKind[] {
    const { busy, size } = this.#supply;
    const { interpreters } = this.#options;
    const scripts = busy.filter(({ running }) => running === 'scripts').length;
    const scriptsMax = Math.max(1, interpreters - 1);
    const busyMax = interpreters === 1 ? 1 + scripts : interpreters;
    if (busy.length >= Math.min(busyMax, size)) return [];
    return scripts >= scriptsMax ? ['expressions'] : ['expressions', 'scripts'];
  }

  /** The owner's waiting expressions are likely to take too long as well. */
  #demote(owner: string): void {
    if (owner === '') return;
    this.#slowOwners.set(owner, true);
    for (const call of this.#queue.demote(owner)) call.lane = 'scripts';
    this.#supply.wantSpares();
  }

  /**
   * Pure calls go to interpreters that ran pure calls, and others to a pristine interpreter, so that no call waits for a
   * restore.
   */
  #chooseFor(call: QueuedCall): Interpreter | undefined {
    const { idle } = this.#supply;
    return idle.find(({ isPristine }) => isPristine !== call.pure) ?? idle[0];
  }

  async #hold(interpreter: Interpreter, call: QueuedCall): Promise<void> {
    interpreter.running = call.lane;
    this.#holders.set(call, interpreter);
    const { request, variables, timeoutMs, pure, moment } = call;
    const frame = { request, variables, timeoutMs, pure, ...(moment && { moment }) };
    const end = await interpreter.process.call(frame);
    this.#holders.delete(call);
    interpreter.running = null;
    interpreter.isPristine = !call.pure;
    const disposition = call.deliver(end);
    if (isTimeout(end) && !call.isAborted()) {
      this.#timeouts += 1;
      if (call.lane === 'expressions') this.#demote(call.owner);
    }
    if (disposition === 'retry') this.#queue.putBack(call.lane, call, call.owner);
    if (disposition !== 'keep' || isLate(end) || this.#hasGrown(interpreter, end)) {
      this.#supply.discard(interpreter);
    }
    if (this.#supply.isStopping && disposition === 'retry') {
      this.#refuseAll('the server is stopping');
    }
    if (this.#holders.size === 0) this.#idleAgain?.();
    this.#dispatch();
  }

  /** Whether the interpreter should be replaced by a spare that is ready. */
  #hasGrown(interpreter: Interpreter, end: CallEnd): boolean {
    if (end.kind !== 'reply' || this.#supply.size < 2) return false;
    return end.reply.heapBytes - interpreter.heapBytes > GROWTH_LIMIT_BYTES;
  }

  #refuseAll(reason: string): void {
    for (const call of this.#queue.takeAll()) call.refuse(unavailable(reason));
  }
}

function isLate(end: CallEnd): boolean {
  return end.kind === 'reply' && end.isLate;
}
