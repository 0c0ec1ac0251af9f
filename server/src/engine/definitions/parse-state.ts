import { childPointer } from './json-pointer.js';
import type { StepDefinition } from '../model/definition.js';
import { ProblemList, type DocumentErrorCode, type DocumentWarningCode } from './problem-list.js';
import type { StepMember } from './step-members.js';
import type { StepType } from './step-types.js';

export interface ParseOptions {
  /** The version that the server gave the document; 0 as long as it has none. */
  readonly version?: number;
  readonly maxSteps?: number;
  /** How deep Do and CompensateWith may be nested. */
  readonly maxDepth?: number;
  /** How many members and values a document may have, those that YAML aliases repeat counted each time. */
  readonly maxValues?: number;
  /** It was accepted once, perhaps when limits were wider: its size does not refuse it now. */
  readonly isStored?: boolean;
}

/** A Python expression and where in the document it stands. */
export interface ExpressionSource {
  readonly source: string;
  readonly pointer: string;
  readonly use: ExpressionUse;
}

/** What an expression is for, as far as that tells what it may read and what it gives. */
export interface ExpressionUse {
  /** An input, or one that is a name, key or time; a condition of SelectNextStep; or neither. */
  readonly gives: 'input' | 'name' | 'selection' | 'value';
  /** Whether `step` is there. */
  readonly knowsStep: boolean;
  /** The fields of `step` where they are known. */
  readonly stepType: StepType | null;
}

/** A text that is not evaluated and yet may have been meant to be. */
export interface LiteralText {
  readonly text: string;
  readonly pointer: string;
  readonly isListItem: boolean;
}

/** The name of a custom step and where in the document it stands. */
export interface CustomStepUse {
  readonly name: string;
  readonly pointer: string;
}

/** A place that names a step which has to exist. */
export interface StepReference {
  readonly stepId: string;
  readonly pointer: string;
}

/** The members of a step as they were posted, and where they stand. */
export interface PostedStep {
  readonly pointer: string;
  value(name: StepMember): unknown;
  pointerOf(name: StepMember): string;
}

/** Everything that is gathered on the way through one document. */
export class ParseState {
  readonly errors = new ProblemList<DocumentErrorCode>();
  readonly warnings = new ProblemList<DocumentWarningCode>();
  readonly expressions: ExpressionSource[] = [];
  readonly literalTexts: LiteralText[] = [];
  readonly postedSteps = new Map<string, PostedStep>();
  readonly customSteps: CustomStepUse[] = [];
  readonly references: StepReference[] = [];
  /** Where each step id was given first, in document order. */
  readonly stepPointers = new Map<string, string>();
  readonly steps = new Map<string, StepDefinition>();
  readonly maxSteps: number;
  readonly maxDepth: number;
  readonly isStored: boolean;
  readonly #maxValues: number;
  #stepCount = 0;
  #valueCount = 0;

  constructor(options: ParseOptions) {
    this.maxSteps = options.maxSteps ?? 1000;
    this.maxDepth = options.maxDepth ?? 32;
    this.isStored = options.isStored ?? false;
    this.#maxValues = options.maxValues ?? (this.isStored ? Infinity : 50_000);
  }

  /** Counts a step; false (with one error for all of them) where the document has too many. */
  admitStep(pointer: string): boolean {
    this.#stepCount += 1;
    if (this.#stepCount === this.maxSteps + 1) {
      const message = `A definition can have at most ${this.maxSteps} steps; this step and those after it exceed the limit.`;
      this.errors.add('too_many_steps', pointer, message);
    }
    return this.#stepCount <= this.maxSteps;
  }

  /**
   * Counts values; false (with one error for all of them) once the document has too many. It is what bounds the
   * work: a few aliases in YAML can make a small text into a huge document.
   */
  admitValues(count: number, pointer: string): boolean {
    const wasWithin = this.#valueCount <= this.#maxValues;
    this.#valueCount += count;
    const isWithin = this.#valueCount <= this.#maxValues;
    if (wasWithin && !isWithin) {
      const message = `A definition can have at most ${this.#maxValues} members and values.`;
      this.errors.add('too_large', pointer, message);
    }
    return isWithin;
  }

  /**
   * The same for the members of a list or map before any of them is read: what has too many costs no more than to count
   * them. The error is at the first one too many.
   */
  admitMembers(names: readonly string[], pointer: string): boolean {
    const firstTooMany = names[Math.max(0, this.#maxValues - this.#valueCount)];
    const place = firstTooMany === undefined ? pointer : childPointer(pointer, firstTooMany);
    return this.admitValues(names.length, place);
  }
}
