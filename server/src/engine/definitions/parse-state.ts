import { childPointer } from './json-pointer.js';
import type { InputSchema, StepDefinition } from '../model/definition.js';
import { ProblemList, type DocumentErrorCode, type DocumentWarningCode } from './problem-list.js';
import type { StepMember } from './step-members.js';
import type { StepType } from './step-types.js';

export interface ParseOptions {
  /** The version that the server assigned to the document; 0 until it has one. */
  readonly version?: number;
  readonly maxSteps?: number;
  /** The maximum nesting depth of Do and CompensateWith. */
  readonly maxDepth?: number;
  /** The maximum number of members and values in a document. Values that YAML aliases repeat count each time. */
  readonly maxValues?: number;
  /** The document was accepted earlier, perhaps under larger limits: its size must not cause a rejection now. */
  readonly isStored?: boolean;
  /** How the number at a pointer is written in the posted text, such as `1.10`; null: not known. */
  readonly writtenNumber?: (pointer: string) => string | null;
}

/** A Python expression and its position in the document. */
export interface ExpressionSource {
  readonly source: string;
  readonly pointer: string;
  readonly use: ExpressionUse;
}

/** The use of an expression, which determines the variables that it may read. */
export interface ExpressionUse {
  /**
   * An input; an input that is a name, key or time; a condition of SelectNextStep; a CancelCondition; or any other value.
   */
  readonly gives: 'input' | 'name' | 'selection' | 'cancellation' | 'value';
  /** Whether the variable `step` is defined. */
  readonly knowsStep: boolean;
  /** True if the variable `secrets` is defined: only in the inputs of calls. Default: false. */
  readonly takesSecrets?: boolean;
  /** The type whose fields `step` has, if known. */
  readonly stepType: StepType | null;
}

/** A string that is not evaluated but may have been meant as an expression. */
export interface LiteralText {
  readonly text: string;
  readonly pointer: string;
  readonly isListItem: boolean;
}

/** The name of a custom step and its position in the document. */
export interface CustomStepUse {
  readonly name: string;
  readonly pointer: string;
}

/** A cron expression, its time zone, and their positions in the document. */
export interface CronUse {
  /** The trigger's name. */
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly pointer: string;
  readonly timeZonePointer: string;
}

/** A limit that a step names, and its position in the document. */
export interface StepLimitUse {
  readonly name: string;
  readonly units: number;
  readonly pointer: string;
  /** Of `Units`, or of the entry if it has none. */
  readonly unitsPointer: string;
}

/** A member that names a step, which must exist. */
export interface StepReference {
  readonly stepId: string;
  readonly pointer: string;
}

/** The members of a step as posted, and their pointer. */
export interface PostedStep {
  readonly pointer: string;
  value(name: StepMember): unknown;
  pointerOf(name: StepMember): string;
}

/** Everything that is collected while a document is parsed. */
export class ParseState {
  readonly errors = new ProblemList<DocumentErrorCode>();
  readonly warnings = new ProblemList<DocumentWarningCode>();
  readonly expressions: ExpressionSource[] = [];
  readonly literalTexts: LiteralText[] = [];
  readonly postedSteps = new Map<string, PostedStep>();
  readonly customSteps: CustomStepUse[] = [];
  readonly limits: StepLimitUse[] = [];
  readonly references: StepReference[] = [];
  /** The first position of each step id, in document order. */
  readonly stepPointers = new Map<string, string>();
  readonly steps = new Map<string, StepDefinition>();
  /** The member Input, if its form is valid. */
  input: { readonly schema: InputSchema; readonly pointer: string } | null = null;
  /** The position of the member Index. */
  indexPointer = '';
  /** The cron expressions of triggers, even of invalid ones. */
  readonly crons: CronUse[] = [];
  readonly maxSteps: number;
  readonly maxDepth: number;
  readonly isStored: boolean;
  readonly writtenNumber: (pointer: string) => string | null;
  readonly #maxValues: number;
  #stepCount = 0;
  #valueCount = 0;

  constructor(options: ParseOptions) {
    this.maxSteps = options.maxSteps ?? 1000;
    this.maxDepth = options.maxDepth ?? 32;
    this.isStored = options.isStored ?? false;
    this.writtenNumber = options.writtenNumber ?? (() => null);
    this.#maxValues = options.maxValues ?? (this.isStored ? Infinity : 50_000);
  }

  /** Counts a step. Returns false, with a single error, if the document has too many. */
  admitStep(pointer: string): boolean {
    this.#stepCount += 1;
    if (this.#stepCount === this.maxSteps + 1) {
      const message = `A definition can have at most ${this.maxSteps} steps; this step and those after it exceed the limit.`;
      this.errors.add('too_many_steps', pointer, message);
    }
    return this.#stepCount <= this.maxSteps;
  }

  /**
   * Counts values. Returns false, with a single error, once the document has too many. This limit bounds the work: a
   * few YAML aliases can expand a small text into a huge document.
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
   * Checks the members of a list or map before any of them is read, so that rejecting too many costs no more than
   * counting them. The error points at the first excess member.
   */
  admitMembers(names: readonly string[], pointer: string): boolean {
    const firstTooMany = names[Math.max(0, this.#maxValues - this.#valueCount)];
    const place = firstTooMany === undefined ? pointer : childPointer(pointer, firstTooMany);
    return this.admitValues(names.length, place);
  }
}
