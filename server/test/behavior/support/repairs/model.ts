/**
 * A small model of a run of the repair matrix: what is open, and what the data becomes.
 *
 * It starts from what the server shows (open executions and data), and predicts the effect of a modification as the
 * documentation describes it: cancel, change the data, move to the other version, start, resume, then join. It shares no
 * code with the engine.
 */
import { blockerOf, type Blocker } from './blockers.js';
import { isSpare, ITEMS, TURNS, type Box, type Node, type Shape } from './shapes.js';

export interface Frame {
  /** The id of the execution, or a negative number for one that the model has opened. */
  readonly id: number;
  stepId: string;
  readonly parent: Frame | null;
  readonly item: string | null;
  /**
   * `ready` runs when the run advances. `inner`: its inner steps have run, and it ends when all others have. `failed`: the step
   * waits for its retry or for a resume.
   */
  state: 'ready' | 'inner' | 'waiting' | 'failed' | 'open';
  /** The body has its result: only the outputs are left. */
  isKept: boolean;
}

export interface ModelData {
  trail: string[];
  turns: number;
  fixed: boolean;
}

export type ModelStatus = 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';

export interface ModelModification {
  readonly cancel?: readonly number[] | 'all';
  readonly fixes?: boolean;
  readonly stepMap?: Readonly<Record<string, string>>;
  readonly start?: readonly string[];
  readonly resumes?: boolean;
}

export interface Prediction {
  readonly canceled: readonly number[];
  readonly started: readonly string[];
  /** Whether steps run as soon as the modification has been made. */
  readonly hasMoved: boolean;
}

interface Located {
  readonly node: Node;
  readonly next: Node | null;
  readonly container: Box | null;
}

export class Model {
  readonly frames: Frame[] = [];
  /** Ids of the steps inside the saga that can be compensated, in order of completion. */
  undoable: string[] = [];
  outcome: string | null = null;
  /** Whether a step has failed that has neither succeeded later nor been left behind by a new beginning. */
  hasUnresolvedError = false;
  #shape: Shape;
  #nextId = -1;

  constructor(
    shape: Shape,
    public status: ModelStatus,
    readonly data: ModelData,
  ) {
    this.#shape = shape;
  }

  get isEnded(): boolean {
    return this.status === 'Complete' || this.status === 'Terminated';
  }

  /** The open steps, each with its item; of a runnable run, with `!` if the step waits for its retry. */
  get open(): readonly string[] {
    const isRunnable = this.status === 'Runnable';
    return this.frames
      .map(({ item, state, stepId }) => {
        const mark = isRunnable && state === 'failed' ? '!' : '';
        return stepId + (item ?? '') + mark;
      })
      .sort();
  }

  /** @param isInterrupted whether its body is done, but not its outputs */
  addFrame(
    id: number,
    { item, stepId }: { readonly stepId: string; readonly item: string | null },
    state: Frame['state'],
    isInterrupted: boolean,
  ): void {
    const container = this.#locate(stepId).container?.id;
    const parent = this.frames.find((frame) => frame.stepId === container) ?? null;
    const isDone = state === 'failed' || isInterrupted;
    const isKept = isDone && this.#blockerOf(stepId)?.fails === 'outputs';
    this.frames.push({ id, stepId, parent, item, state, isKept });
  }

  /** @param target the shape of the version that the run moves to */
  modify(modification: ModelModification, target: Shape): Prediction {
    const { cancel = [], fixes = false, resumes = false, start = [], stepMap = {} } = modification;
    const gone = this.frames.filter(
      ({ id, parent }) =>
        cancel === 'all' || cancel.includes(id) || (parent !== null && cancel.includes(parent.id)),
    );
    if (gone.some(({ state }) => state === 'failed')) this.hasUnresolvedError = true;
    for (const frame of gone) this.#remove(frame);
    const beginsAnew = this.isEnded ? start.length > 0 : cancel === 'all';
    if (fixes) this.data.fixed = true;
    this.#shape = target;
    for (const frame of this.frames) frame.stepId = stepMap[frame.stepId] ?? frame.stepId;
    if (this.isEnded && start.length > 0) this.status = 'Runnable';
    if (start.length > 0) this.outcome = null;
    if (beginsAnew) this.hasUnresolvedError = false;
    for (const stepId of start) this.#start(stepId, gone);
    const wasSuspended = this.status === 'Suspended';
    if (cancel === 'all' && start.length === 0 && wasSuspended) this.status = 'Runnable';
    if (resumes) this.resume();
    const before = this.#progress;
    // The next item is opened even while the run is suspended.
    for (const frame of this.frames.filter(({ stepId }) => this.#isNextItemDue(stepId)))
      this.#join(frame);
    if (!this.isEnded) this.advance();
    const canceled = gone.map(({ id }) => id);
    return { canceled, started: [...start], hasMoved: this.#progress !== before };
  }

  get #progress(): string {
    return [...this.data.trail, '|', ...this.frames.map(({ id, state }) => `${id} ${state}`)].join(
      ' ',
    );
  }

  resume(): void {
    if (this.status !== 'Suspended') return;
    this.status = 'Runnable';
    // A step that has suspended the run is attempted again.
    for (const frame of this.frames) {
      if (frame.state === 'failed' && this.#behaviorOf(frame) !== 'Retry') frame.state = 'ready';
    }
  }

  /** What PUT /retry does. */
  retry(): void {
    for (const frame of this.frames) if (frame.state === 'failed') frame.state = 'ready';
    this.advance();
  }

  /** What the wait is for has happened. */
  release(frame: Frame): void {
    const fails = this.#blockerOf(frame.stepId)?.fails;
    if (fails === 'worker' && !this.data.fixed) this.#fail(frame);
    else this.#complete(frame);
    this.advance();
  }

  advance(): void {
    while (this.status === 'Runnable') {
      const frame = this.frames.find(({ state }) => state === 'ready');
      const empty = this.frames.find((each) => each.state === 'open' && !this.#hasInside(each));
      const inner = this.frames.find(({ state }) => state === 'inner');
      if (frame !== undefined) this.#run(frame);
      else if (inner !== undefined) this.#complete(inner);
      else if (empty !== undefined) this.#join(empty);
      else break;
    }
    if (this.status === 'Runnable' && this.frames.length === 0)
      this.#end('Complete', this.outcome ?? 'Succeeded');
  }

  terminate(): void {
    this.#end('Terminated', 'Terminated');
  }

  blockerOf(frame: Frame): Blocker | null {
    return this.#blockerOf(frame.stepId);
  }

  #end(status: 'Complete' | 'Terminated', outcome: string): void {
    this.frames.length = 0;
    this.status = status;
    this.outcome = outcome;
  }

  #run(frame: Frame): void {
    const { node } = this.#locate(frame.stepId);
    if (node.kind === 'mark') {
      this.#write(frame, frame.stepId);
      if (node.countsTurns === true) this.data.turns += 1;
      if (node.isUndoable === true && frame.parent !== null) this.undoable.push(frame.stepId);
      this.#finish(frame);
    } else if (node.kind === 'box') {
      this.undoable = node.place === 'saga' ? [] : this.undoable;
      frame.state = 'open';
      this.#enter(frame, node);
    } else {
      this.#block(frame, blockerOf(node.blocker));
    }
  }

  #block(frame: Frame, { fails, innerFirst, innerSkipped, waits }: Blocker): void {
    const { fixed } = this.data;
    const passes = waits === undefined || ((waits === 'timer' || waits === 'service') && fixed);
    const failsNow = fails === 'always' || (fails === 'before' && !fixed);
    if (failsNow && !frame.isKept) {
      this.#fail(frame);
    } else if (passes && innerFirst === true && innerSkipped !== true && !frame.isKept) {
      this.#writeInner(frame);
      frame.state = 'inner';
    } else if (passes || frame.isKept) {
      this.#complete(frame);
    } else {
      if (innerFirst === true) this.#writeInner(frame);
      frame.state = 'waiting';
    }
  }

  /** The body has its result. */
  #complete(frame: Frame): void {
    const blocker = this.#blockerOf(frame.stepId);
    const hasWritten = frame.state === 'waiting' || frame.state === 'inner';
    const hasRun = frame.isKept || (blocker?.innerFirst === true && hasWritten);
    if (!hasRun && blocker?.innerSkipped !== true) this.#writeInner(frame);
    frame.isKept = true;
    if (blocker?.fails === 'outputs' && !this.data.fixed) {
      this.#fail(frame);
    } else {
      this.#write(frame, frame.stepId);
      this.#finish(frame);
    }
  }

  #fail(frame: Frame): void {
    frame.state = 'failed';
    switch (this.#behaviorOf(frame)) {
      case 'Retry':
        break;
      case 'Suspend':
        this.status = 'Suspended';
        break;
      case 'Terminate':
        this.#end('Terminated', 'Failed');
        break;
      default:
        this.#compensate(frame);
    }
  }

  #compensate({ parent }: Frame): void {
    if (parent === null) throw new Error('only sagas compensate here');
    for (const frame of this.frames.filter((each) => each.parent === parent)) this.#remove(frame);
    for (const stepId of this.undoable.toReversed()) this.data.trail.push(`-${stepId}`);
    this.undoable = [];
    this.outcome = 'Compensated';
    this.#finish(parent);
  }

  #finish(frame: Frame): void {
    this.#remove(frame);
    const { next } = this.#locate(frame.stepId);
    if (next !== null) this.#open(next.id, frame.parent, frame.item);
  }

  #isNextItemDue(stepId: string): boolean {
    const { node } = this.#locate(stepId);
    const isSequential = node.kind === 'box' && node.place === 'Foreach in sequence';
    const frame = this.frames.find((each) => each.stepId === stepId && each.state === 'open');
    if (!isSequential || frame === undefined || this.#hasInside(frame)) return false;
    return this.#itemsBegun < ITEMS.length;
  }

  #hasInside(container: Frame): boolean {
    return this.frames.some(({ parent }) => parent === container);
  }

  #join(container: Frame): void {
    const { node } = this.#locate(container.stepId);
    if (node.kind !== 'box') throw new Error(`${container.stepId} contains nothing`);
    const { place } = node;
    if (place === 'Foreach in sequence' && this.#itemsBegun < ITEMS.length) {
      this.#openFirst(container, node, ITEMS[this.#itemsBegun] ?? null);
    } else if (place === 'While' && this.data.turns < TURNS) {
      this.#enter(container, node);
    } else {
      this.#finish(container);
    }
  }

  /** How many items the sequential Foreach has begun. */
  #itemsBegun = 0;

  setItemsBegun(count: number): void {
    this.#itemsBegun = count;
  }

  #enter(frame: Frame, box: Box): void {
    if (box.place === 'While' && this.data.turns >= TURNS) this.#finish(frame);
    else this.#openInside(frame, box);
  }

  #openInside(frame: Frame, box: Box): void {
    this.#itemsBegun = 0;
    const items = box.place === 'Foreach in parallel' ? ITEMS : [ITEMS[0]];
    const isForeach = box.place.startsWith('Foreach');
    for (const item of items) this.#openFirst(frame, box, isForeach ? item : frame.item);
  }

  #openFirst(frame: Frame, box: Box, item: string | null): void {
    if (box.place === 'Foreach in sequence') this.#itemsBegun += 1;
    for (const [first] of box.do) if (first !== undefined) this.#open(first.id, frame, item);
  }

  #start(stepId: string, gone: readonly Frame[]): void {
    const { container } = this.#locate(stepId);
    const parent = this.frames.find((frame) => frame.stepId === container?.id) ?? null;
    // Inside a Foreach, the step gets the item of the execution that was canceled.
    this.#open(stepId, parent, container === null ? null : (gone[0]?.item ?? null));
  }

  #open(stepId: string, parent: Frame | null, item: string | null): void {
    this.frames.push({ id: this.#nextId, stepId, parent, item, state: 'ready', isKept: false });
    this.#nextId -= 1;
  }

  #remove(frame: Frame): void {
    const at = this.frames.indexOf(frame);
    if (at !== -1) this.frames.splice(at, 1);
  }

  #write({ item }: Frame, text: string): void {
    this.data.trail.push(text + (item ?? ''));
  }

  #writeInner(frame: Frame): void {
    const { inner, innerItem } = this.#blockerOf(frame.stepId) ?? {};
    if (inner !== undefined) this.data.trail.push(inner + (innerItem ?? frame.item ?? ''));
  }

  #blockerOf(stepId: string): Blocker | null {
    const { node } = this.#locate(stepId);
    return node.kind === 'block' ? blockerOf(node.blocker) : null;
  }

  #behaviorOf({ stepId }: Frame): string {
    const { node } = this.#locate(stepId);
    if (node.kind !== 'block') return 'Retry';
    // A Fail step is not retried.
    if (node.blocker === 'fail' && node.behavior === 'Retry') return 'Suspend';
    return node.behavior === 'none' && this.#shape.place !== 'saga' ? 'Retry' : node.behavior;
  }

  #locate(stepId: string): Located {
    const found = locate(this.#shape.nodes, stepId, null);
    if (found === null) throw new Error(`the shape has no step ${stepId}`);
    return found;
  }
}

function locate(nodes: readonly Node[], stepId: string, container: Box | null): Located | null {
  for (const [at, node] of nodes.entries()) {
    const next = nodes[at + 1] ?? null;
    if (node.id === stepId)
      return { node, next: next === null || isSpare(next) ? null : next, container };
    if (node.kind !== 'box') continue;
    for (const sequence of node.do) {
      const found = locate(sequence, stepId, node);
      if (found !== null) return found;
    }
  }
  return null;
}
