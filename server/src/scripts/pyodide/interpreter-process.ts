/**
 * One child process with one interpreter, seen from the server: boots it, sends it a call, kills it.
 *
 * It handles strictly one call after another. A process that dies, sends an invalid response or does not respond in time
 * ends its current call, and counts as dead from then on.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import {
  encodeRequestHeader,
  longestCallMs,
  ReplyReader,
  type ReplyFrame,
  type RequestFrame,
} from './frames.js';
import type { BootRequest } from './child-main.js';
import type { ChildCommand } from './child-command.js';

/** How a call ended, as the server sees it. */
export type CallEnd =
  | {
      readonly kind: 'reply';
      readonly reply: ReplyFrame;
      /** The response arrived while the call was being interrupted; the interrupt may still hit whatever runs next. */
      readonly isLate: boolean;
    }
  /** It did not respond in time and was killed. */
  | { readonly kind: 'unresponsive' }
  /** The process ended for an unknown reason. */
  | { readonly kind: 'died'; readonly reason: string };

interface Pending {
  readonly frame: RequestFrame;
  readonly settle: (end: CallEnd) => void;
  deadline: NodeJS.Timeout;
  /** The next interrupt of an abandoned call. */
  nextInterrupt: NodeJS.Timeout | undefined;
  isInterrupted: boolean;
}

const BOOT_DEADLINE_MS = 60_000;
/** Most abandoned calls end on their own within this time, which costs nothing. */
const FIRST_INTERRUPT_MS = 20;
/** A process that had not started the call yet did not notice the interrupt. */
const NEXT_INTERRUPT_MS = 250;
const MAX_ERROR_TEXT = 2_000;
const COPIED_BYTES = 16_384;
const NOTHING = Buffer.alloc(0);

export class InterpreterProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #reader: ReplyReader;
  #pending: Pending | null = null;
  #dead = false;
  #errorText = '';
  readonly #exited: Promise<void>;

  /** @param maxReplyBytes a longer reply is rejected */
  constructor(command: ChildCommand, maxReplyBytes: number) {
    this.#reader = new ReplyReader(maxReplyBytes);
    this.#child = spawn(command.file, command.args, {
      env: command.environment ?? {},
      cwd: command.cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      ...(command.userId === undefined ? {} : { uid: command.userId, gid: command.userId }),
    });
    this.#child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#child.stderr.on('data', (chunk: Buffer) => {
      if (this.#errorText.length < MAX_ERROR_TEXT) this.#errorText += chunk.toString();
    });
    // A process that has died closes its pipes; its end is reported once, by 'close'.
    this.#child.stdin.on('error', () => undefined);
    this.#exited = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.#end({ kind: 'died', reason });
        resolve();
      };
      this.#child.on('error', (error) => end(error.message));
      this.#child.on('close', (code, signal) => end(this.#describeExit(code, signal)));
    });
  }

  /** The id of the process; undefined if it could not be started. */
  get id(): number | undefined {
    return this.#child.pid;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** Calls back once, when the process has ended for any reason. */
  onExit(callback: () => void): void {
    void this.#exited.then(callback);
  }

  /** @returns the first reply @throws Error if the interpreter does not start, or the signal fires */
  async boot(
    request: BootRequest,
    signal: AbortSignal,
    deadlineMs = BOOT_DEADLINE_MS,
  ): Promise<ReplyFrame> {
    const giveUp = (): void => this.kill('its start was canceled');
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp);
    const frame = {
      request: Buffer.from(JSON.stringify(request)),
      variables: NOTHING,
      timeoutMs: 0,
      pure: false,
    };
    const end = await this.#exchange(frame, deadlineMs, () => {
      this.#end({ kind: 'unresponsive' });
    });
    signal.removeEventListener('abort', giveUp);
    if (end.kind === 'reply') return end.reply;
    throw new Error(end.kind === 'died' ? end.reason : 'it did not respond in time');
  }

  /** Interrupts the call when its time is up, and kills the process if that does not help. */
  call(frame: RequestFrame): Promise<CallEnd> {
    return this.#exchange(frame, frame.timeoutMs, () => {
      // A response that has already arrived is read first.
      setImmediate(() => this.#interrupt(frame));
    });
  }

  /**
   * Abandons the call, because its result is no longer needed: it is interrupted unless it ends right away, and its
   * process is killed if that does not help.
   */
  giveUpCall(): void {
    const pending = this.#pending;
    if (pending === null || pending.nextInterrupt !== undefined) return;
    clearTimeout(pending.deadline);
    pending.deadline = setTimeout(() => this.#end({ kind: 'unresponsive' }), longestCallMs(0));
    const interruptAfter = (pauseMs: number): void => {
      pending.nextInterrupt = setTimeout(() => {
        pending.isInterrupted = true;
        this.#child.kill('SIGINT');
        interruptAfter(NEXT_INTERRUPT_MS);
      }, pauseMs);
    };
    interruptAfter(FIRST_INTERRUPT_MS);
  }

  #exchange(frame: RequestFrame, limitMs: number, atLimit: () => void): Promise<CallEnd> {
    if (this.#dead) return Promise.resolve({ kind: 'died', reason: 'it has already ended' });
    return new Promise((settle) => {
      const deadline = setTimeout(atLimit, limitMs);
      this.#pending = {
        frame,
        settle,
        deadline,
        nextInterrupt: undefined,
        isInterrupted: false,
      };
      this.#send(frame);
    });
  }

  #interrupt(frame: RequestFrame): void {
    const pending = this.#pending;
    if (pending?.frame !== frame) return;
    pending.isInterrupted = true;
    const leftMs = longestCallMs(frame.timeoutMs) - frame.timeoutMs;
    pending.deadline = setTimeout(() => this.#end({ kind: 'unresponsive' }), leftMs);
    this.#child.kill('SIGINT');
  }

  /** Kills the process immediately. A call in progress ends as `died`. */
  kill(reason: string): void {
    this.#end({ kind: 'died', reason });
  }

  async waitForExit(): Promise<void> {
    await this.#exited;
  }

  #send(frame: RequestFrame): void {
    const parts = [encodeRequestHeader(frame), frame.request, frame.variables];
    const { stdin } = this.#child;
    if (frame.request.length + frame.variables.length <= COPIED_BYTES) {
      // One small write is faster than three.
      stdin.write(Buffer.concat(parts));
      return;
    }
    stdin.cork();
    for (const part of parts) stdin.write(part);
    stdin.uncork();
  }

  #receive(chunk: Buffer): void {
    if (this.#dead) return;
    try {
      const reply = this.#reader.push(chunk);
      if (reply === null) return;
      const pending = this.#pending;
      if (pending === null) throw new Error('an unexpected reply');
      const { isInterrupted } = pending;
      const wasBrokenOff = reply.outcome === 'timeout';
      if (wasBrokenOff && !isInterrupted) throw new Error('it was interrupted');
      this.#pending = null;
      clearTimers(pending);
      pending.settle({ kind: 'reply', reply, isLate: isInterrupted && !wasBrokenOff });
    } catch (error) {
      this.#end({ kind: 'died', reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #end(end: CallEnd): void {
    this.#dead = true;
    this.#child.kill('SIGKILL');
    const pending = this.#pending;
    this.#pending = null;
    if (pending === null) return;
    clearTimers(pending);
    // On systems without SIGINT, the signal ends the process.
    pending.settle(pending.isInterrupted ? { kind: 'unresponsive' } : end);
  }

  #describeExit(code: number | null, signal: NodeJS.Signals | null): string {
    const detail = this.#errorText.trim();
    return `it ended with ${signal ?? code ?? 'an unknown code'}${detail === '' ? '' : `: ${detail}`}`;
  }
}

function clearTimers({ deadline, nextInterrupt }: Pending): void {
  clearTimeout(deadline);
  clearTimeout(nextInterrupt);
}
