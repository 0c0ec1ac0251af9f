/**
 * The interpreters of one server: boots them, hands them calls, replaces them.
 *
 * Owns: how many processes there are and which call goes to which. Must not know: Python, expressions, scripts.
 *
 *  L1 One process has one call at a time; at most `interpreters` of them are busy at once, and where that is one, one
 *     more with expressions while it is busy with a script. The others are spares: the same, but waiting.
 *  L2 A process that behaved strangely is never used again: it died, did not answer, answered something that cannot be
 *     read, asked the host for something closed, or trapped. Its place is taken by a spare at once.
 *  L3 Every call ends exactly once: with an answer, an error, or `Unavailable` when there is nobody to ask.
 *  L4 Processes boot one after another, so that the first is ready soon on a machine with few cores. One that does not
 *     boot is tried again, later and later.
 */
import { LRUCache } from 'lru-cache';
import type { ScriptError } from '../script-runtime.js';
import { MalformedAnswer } from '../expressions/read-answer.js';
import { CallQueue, type Lane } from './call-queue.js';
import type { ReplyFrame } from './frames.js';
import type { CallEnd, InterpreterProcess } from './interpreter-process.js';
import type { RuntimeLogger } from './runtime-options.js';
import { SpareNeed } from './spare-need.js';

export interface PoolOptions {
  readonly interpreters: number;
  readonly spares: number;
  /** How long spares are kept after the last call that may break its interpreter. @default a minute */
  readonly spareQuietMs?: number;
  readonly queueLimit: number;
  /** In words, for the error when it is reached. */
  readonly resultLimitBytes: number;
  readonly logger: RuntimeLogger;
  /** Boots one process; called for one at a time. Gives up when the signal fires. */
  readonly boot: (signal: AbortSignal) => Promise<BootedInterpreter>;
}

export interface BootedInterpreter {
  readonly process: InterpreterProcess;
  readonly heapBytes: number;
}

export interface PoolCall<Answer> {
  readonly lane: Lane;
  /** Owners take turns. One whose expressions take too long waits with the scripts for a while. */
  readonly owner?: string;
  readonly request: Buffer;
  readonly variables: Buffer;
  readonly pure: boolean;
  /** It runs code that may break its interpreter. */
  readonly isRisky: boolean;
  readonly timeoutMs: number;
  /** @throws MalformedAnswer when the interpreter cannot be trusted any more */
  readonly read: (answer: Buffer) => Answer;
  readonly signal?: AbortSignal;
}

export type CallResult<Answer> =
  | { readonly ok: true; readonly answer: Answer; readonly output: string }
  | {
      readonly ok: false;
      readonly error: ScriptError;
      /** The item that was being worked on. */
      readonly progress: number;
      readonly output: string;
    };

export interface PoolStatistics {
  readonly interpreters: number;
  readonly busy: number;
  readonly queued: number;
  readonly replaced: number;
  readonly timeouts: number;
}

const SPARE_QUIET_MS = 60_000;
/** How long, and how many, owners are remembered whose expressions took too long. */
const SLOW_MS = 10 * 60_000;
const MAX_SLOW = 1_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;
const FAILED_BOOTS_UNTIL_UNAVAILABLE = 3;
/** Memory never shrinks; an interpreter that took this much more gives way to a fresh one. */
const GROWTH_LIMIT_BYTES = 64 * (1 << 20);

/** The interpreter restores its memory afterwards, and is as good as new. */
const HARMLESS: ReadonlySet<ReplyFrame['outcome']> = new Set(['timeout', 'too-large', 'overflow']);

type Disposition = 'keep' | 'discard' | 'retry';

interface QueuedCall {
  lane: Lane;
  readonly owner: string;
  readonly request: Buffer;
  readonly variables: Buffer;
  readonly pure: boolean;
  readonly timeoutMs: number;
  /** Settles the call, unless it is to be tried again. */
  readonly deliver: (end: CallEnd) => Disposition;
  readonly refuse: (error: ScriptError) => void;
  readonly isAborted: () => boolean;
}

interface Interpreter extends BootedInterpreter {
  /** The lane of the call that it is busy with. */
  running: Lane | null;
  /** Nothing ran on it since it was last restored, or it restores itself right now. */
  isPristine: boolean;
}

export class InterpreterPool {
  private readonly interpreters = new Set<Interpreter>();
  private readonly queue: CallQueue<QueuedCall>;
  private readonly slowOwners = new LRUCache<string, true>({ max: MAX_SLOW, ttl: SLOW_MS });
  private hasBooted = false;
  private failedBoots = 0;
  private retryTimer: NodeJS.Timeout | null = null;
  private readonly stopping = new AbortController();
  private booting: Promise<void> | null = null;
  private replaced = 0;
  private timeouts = 0;
  private idleAgain: (() => void) | null = null;
  /** A spare costs memory. A server whose expressions are all harmless, or that has nothing to do, does without. */
  private readonly spareNeed: SpareNeed;

  constructor(private readonly options: PoolOptions) {
    this.spareNeed = new SpareNeed(options.spareQuietMs ?? SPARE_QUIET_MS, () => this.endSpares());
    this.queue = new CallQueue(options.queueLimit);
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Whether calls are served: at once, or soon where an interpreter is just being replaced. */
  get isReady(): boolean {
    return this.hasBooted && !this.isHopeless;
  }

  private get isHopeless(): boolean {
    return this.interpreters.size === 0 && this.failedBoots >= FAILED_BOOTS_UNTIL_UNAVAILABLE;
  }

  get statistics(): PoolStatistics {
    return {
      interpreters: this.interpreters.size,
      busy: this.busy.length,
      queued: this.queue.size,
      replaced: this.replaced,
      timeouts: this.timeouts,
    };
  }

  /** Begins to boot; calls may come before, and wait. */
  start(): void {
    this.bootMissing();
  }

  /** Ends what waits, lets what runs end, then ends the processes. */
  async stop(): Promise<void> {
    this.stopping.abort();
    if (this.retryTimer !== null) clearTimeout(this.retryTimer);
    this.spareNeed.forget();
    this.refuseAll('the server is stopping');
    // Bounded: every running call has a deadline.
    if (this.busy.length > 0) await new Promise<void>((resolve) => (this.idleAgain = resolve));
    const processes = [...this.interpreters].map(({ process }) => process);
    this.interpreters.clear();
    for (const process of processes) process.kill('the server is stopping');
    await Promise.all([this.booting, ...processes.map((process) => process.waitForExit())]);
  }

  run<Answer>(call: PoolCall<Answer>): Promise<CallResult<Answer>> {
    if (call.isRisky) this.bootSpares();
    return new Promise((resolve) => {
      const queued = this.prepare(call, resolve);
      const refusal = this.findRefusal(call.signal);
      if (refusal !== null) {
        queued.refuse(refusal);
      } else if (this.queue.push(queued.lane, queued, queued.owner)) {
        this.dispatch();
      } else {
        const message = `${this.options.queueLimit} calls are waiting for Python already`;
        queued.refuse({ type: 'Overloaded', message });
      }
    });
  }

  private findRefusal(signal: AbortSignal | undefined): ScriptError | null {
    if (this.isStopping) return unavailable('the server is stopping');
    if (signal?.aborted === true) return aborted();
    return this.isHopeless ? unavailable('no Python interpreter could be started') : null;
  }

  private prepare<Answer>(
    call: PoolCall<Answer>,
    resolve: (result: CallResult<Answer>) => void,
  ): QueuedCall {
    let isRetry = false;
    let isAborted = false;
    const settle = (result: CallResult<Answer>): void => {
      call.signal?.removeEventListener('abort', abort);
      resolve(result);
    };
    const refuse = (error: ScriptError): void =>
      settle({ ok: false, error, progress: 0, output: '' });
    const deliver = (end: CallEnd): Disposition => {
      // Nobody listens any more. What the end says about the interpreter counts all the same.
      if (isAborted) return this.judge(call, end).disposition;
      // Nothing outside was changed by it, so a call whose process was taken away is simply made again, once.
      if (end.kind === 'died' && !isRetry && !this.isStopping) {
        isRetry = true;
        return 'retry';
      }
      const { result, disposition } = this.judge(call, end);
      settle(result);
      return disposition;
    };
    const owner = call.owner ?? '';
    const lane = this.slowOwners.has(owner) ? 'scripts' : call.lane;
    const queued: QueuedCall = {
      ...{ ...call, lane, owner, deliver, refuse },
      isAborted: () => isAborted,
    };
    const abort = (): void => {
      isAborted = true;
      refuse(aborted());
      if (!this.queue.remove(queued)) holders.get(queued)?.process.giveUpCall();
    };
    call.signal?.addEventListener('abort', abort, { once: true });
    return queued;
  }

  /** What a call's end means for its caller and for the interpreter. */
  private judge<Answer>(
    call: PoolCall<Answer>,
    end: CallEnd,
  ): { result: CallResult<Answer>; disposition: Disposition } {
    const failed = (error: ScriptError, reply?: ReplyFrame): CallResult<Answer> => ({
      ok: false,
      error,
      progress: reply?.progress ?? 0,
      output: reply?.output.toString() ?? '',
    });
    if (end.kind === 'died') {
      const error = crashed(`the interpreter's process ended: ${end.reason}`);
      return { result: failed(error), disposition: 'discard' };
    }
    if (end.kind === 'unresponsive') {
      return { result: failed(timedOut(call.timeoutMs)), disposition: 'discard' };
    }
    const { reply } = end;
    if (reply.outcome !== 'answered') {
      const isHarmless = HARMLESS.has(reply.outcome);
      if (!isHarmless) this.reportStrange(reply);
      const error = this.describeOutcome(reply, call.timeoutMs);
      return { result: failed(error, reply), disposition: isHarmless ? 'keep' : 'discard' };
    }
    try {
      const answer = call.read(reply.result);
      const result = { ok: true, answer, output: reply.output.toString() } as const;
      return { result, disposition: 'keep' };
    } catch (error) {
      const logger = this.options.logger;
      if (error instanceof MalformedAnswer) {
        logger.warn({ reason: error.message }, 'Python gave an answer that cannot be read');
      } else {
        logger.error({ err: error }, 'Reading an answer of Python failed');
      }
      return {
        result: failed(crashed('the code broke the interpreter that it ran on'), reply),
        disposition: 'discard',
      };
    }
  }

  private reportStrange({ outcome, deniedCalls, result }: ReplyFrame): void {
    const fields = { outcome, deniedCalls, detail: result.toString().slice(0, 300) };
    this.options.logger.warn(fields, 'Python code was stopped at the wall of its sandbox');
  }

  private describeOutcome(reply: ReplyFrame, timeoutMs: number): ScriptError {
    switch (reply.outcome) {
      case 'timeout':
        return timedOut(timeoutMs);
      case 'too-large':
        return {
          type: 'ResultTooLarge',
          message: `the result is larger than ${this.options.resultLimitBytes} bytes`,
        };
      case 'denied':
        return {
          type: 'SandboxViolation',
          message: `the code asked for something outside of its sandbox (${reply.result.toString().slice(0, 200)})`,
        };
      case 'overflow':
        return { type: 'RecursionError', message: 'the code or its data nests too deeply' };
      case 'answered':
      case 'broken':
        return crashed('the code broke the interpreter that it ran on');
    }
  }

  private dispatch(): void {
    for (;;) {
      const lanes = this.openLanes();
      const call = lanes.length === 0 ? undefined : this.queue.shift(lanes);
      if (call === undefined) return;
      const interpreter = this.chooseFor(call);
      // Never happens: openLanes() saw an idle one.
      if (interpreter === undefined) {
        this.queue.putBack(call.lane, call, call.owner);
        return;
      }
      void this.hold(interpreter, call);
    }
  }

  /** Scripts may take long: they never take the last of several interpreters, and a spare stands in for a single one. */
  private openLanes(): readonly Lane[] {
    const { busy } = this;
    const { interpreters } = this.options;
    const scripts = busy.filter(({ running }) => running === 'scripts').length;
    const scriptsMax = Math.max(1, interpreters - 1);
    const busyMax = interpreters === 1 ? 1 + scripts : interpreters;
    if (busy.length >= Math.min(busyMax, this.interpreters.size)) return [];
    return scripts >= scriptsMax ? ['expressions'] : ['expressions', 'scripts'];
  }

  /** The expressions that it has waiting are those that took too long, mostly. */
  private demote(owner: string): void {
    if (owner === '') return;
    this.slowOwners.set(owner, true);
    for (const call of this.queue.demote(owner)) call.lane = 'scripts';
    this.bootSpares();
  }

  /** Pure calls go where pure calls ran, and others to a pristine interpreter, so that nobody waits for a restore. */
  private chooseFor(call: QueuedCall): Interpreter | undefined {
    const idle = [...this.interpreters].filter(({ running }) => running === null);
    return idle.find(({ isPristine }) => isPristine !== call.pure) ?? idle[0];
  }

  private async hold(interpreter: Interpreter, call: QueuedCall): Promise<void> {
    interpreter.running = call.lane;
    holders.set(call, interpreter);
    const { request, variables, timeoutMs, pure } = call;
    const frame = { request, variables, timeoutMs, pure };
    const end = await interpreter.process.call(frame);
    holders.delete(call);
    interpreter.running = null;
    interpreter.isPristine = !call.pure;
    const disposition = call.deliver(end);
    if (isTimeout(end) && !call.isAborted()) {
      this.timeouts += 1;
      if (call.lane === 'expressions') this.demote(call.owner);
    }
    if (disposition === 'retry') this.queue.putBack(call.lane, call, call.owner);
    if (disposition !== 'keep' || isLate(end) || this.hasGrown(interpreter, end)) {
      this.discard(interpreter);
    }
    if (this.isStopping && disposition === 'retry') this.refuseAll('the server is stopping');
    if (this.busy.length === 0) this.idleAgain?.();
    this.dispatch();
  }

  /** Whether it should give way to a spare that is ready. */
  private hasGrown(interpreter: Interpreter, end: CallEnd): boolean {
    if (end.kind !== 'reply' || this.interpreters.size < 2) return false;
    return end.reply.heapBytes - interpreter.heapBytes > GROWTH_LIMIT_BYTES;
  }

  private discard(interpreter: Interpreter): void {
    if (!this.interpreters.delete(interpreter)) return;
    this.replaced += 1;
    interpreter.process.kill('it is replaced');
    this.spareNeed.renew();
    this.bootMissing();
  }

  private bootSpares(): void {
    const wasThere = this.spareNeed.isThere;
    this.spareNeed.renew();
    // Before the first interpreter is ready, its boot goes on to the spares.
    if (!wasThere && this.hasBooted) this.bootMissing();
  }

  /** The newest go, because those that worked are warm. */
  private endSpares(): void {
    const surplus = Math.max(0, this.interpreters.size - this.options.interpreters);
    const idle = [...this.interpreters].filter(({ running }) => running === null).reverse();
    for (const interpreter of idle.slice(0, surplus)) {
      this.interpreters.delete(interpreter);
      interpreter.process.kill('no spare is needed any more');
    }
  }

  private bootMissing(): void {
    const { interpreters, spares } = this.options;
    const isComplete =
      this.interpreters.size >= interpreters + (this.spareNeed.isThere ? spares : 0);
    if (this.booting !== null || this.retryTimer !== null) return;
    if (this.isStopping || isComplete) return;
    this.booting = this.options.boot(this.stopping.signal).then(
      (booted) => this.welcome(booted),
      (error: unknown) => this.retryLater(error),
    );
  }

  private welcome(booted: BootedInterpreter): void {
    this.booting = null;
    this.hasBooted = true;
    this.failedBoots = 0;
    if (this.isStopping) {
      booted.process.kill('the server is stopping');
      return;
    }
    const interpreter: Interpreter = { ...booted, running: null, isPristine: true };
    this.interpreters.add(interpreter);
    // One that dies while it has a call is noticed by the call as well; the second notice finds it gone.
    booted.process.onExit(() => {
      if (!this.isStopping) this.discard(interpreter);
    });
    this.dispatch();
    // A spare may come too late to be of use.
    if (!this.spareNeed.isThere) this.endSpares();
    this.bootMissing();
  }

  private retryLater(error: unknown): void {
    this.booting = null;
    if (this.isStopping) return;
    this.failedBoots += 1;
    this.options.logger.error({ err: error }, 'A Python interpreter did not start');
    if (this.isHopeless) {
      this.refuseAll('no Python interpreter could be started');
    }
    const delayMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.failedBoots - 1));
    this.retryTimer = setTimeout(() => {
      this.retryTimer = null;
      this.bootMissing();
    }, delayMs);
  }

  private refuseAll(reason: string): void {
    for (const call of this.queue.takeAll()) call.refuse(unavailable(reason));
  }

  private get busy(): Interpreter[] {
    return [...this.interpreters].filter(({ running }) => running !== null);
  }
}

/** Which interpreter has which call now. */
const holders = new WeakMap<QueuedCall, Interpreter>();

function isTimeout(end: CallEnd): boolean {
  return end.kind === 'unresponsive' || (end.kind === 'reply' && end.reply.outcome === 'timeout');
}

function isLate(end: CallEnd): boolean {
  return end.kind === 'reply' && end.isLate;
}

function unavailable(reason: string): ScriptError {
  return { type: 'Unavailable', message: `Python is not available: ${reason}` };
}

function aborted(): ScriptError {
  return { type: 'Aborted', message: 'the caller gave up waiting' };
}

function timedOut(timeoutMs: number): ScriptError {
  return { type: 'Timeout', message: `it took longer than ${timeoutMs} ms` };
}

function crashed(message: string): ScriptError {
  return { type: 'InterpreterCrash', message };
}
