/** A file of tests as it was read: cases of one definition, each with its place in the text. */
import type { Tags } from '../../engine/values/tags.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { InstanceOutcome, InstanceStatus } from '../../store/records/instances.js';
import type { Mocks } from '../answers.js';

/** From 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface TestFile {
  /** The path of the tested definition, relative to the file. */
  readonly definition: string;
  readonly definitionPlace: Place;
  /** Paths of more definitions that runs start, relative to the file. */
  readonly uses: readonly string[];
  readonly cases: readonly TestCase[];
}

export interface TestCase {
  readonly name: string;
  readonly place: Place;
  readonly start: JsonObject;
  /** The trigger that starts the run, instead of the case. */
  readonly trigger: string | null;
  readonly reference: string | null;
  readonly tags: Tags;
  /** The virtual time of the start. */
  readonly now: string | null;
  readonly seed: number | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string | null>>;
  readonly mocks: Mocks;
  readonly then: readonly Action[];
  readonly expect: Expectation | null;
}

export type Action =
  | { readonly kind: 'advance'; readonly duration: string | number; readonly place: Place }
  | {
      readonly kind: 'publish';
      readonly name: string;
      readonly key: string;
      readonly data: Json;
      readonly place: Place;
    }
  | { readonly kind: 'expect'; readonly expectation: Expectation; readonly place: Place };

/** Members that are absent are not checked. */
export interface Expectation {
  readonly status?: InstanceStatus;
  readonly outcome?: InstanceOutcome;
  /** A part of the data. */
  readonly data?: JsonObject;
  readonly reference?: string;
  /** Some of the tags. */
  readonly tags?: Tags;
  /** The number of runs of the definition. */
  readonly runs?: number;
  /** A part of the last error. */
  readonly error?: JsonObject;
  /** By the name of the mock. */
  readonly calls?: Readonly<Record<string, number>>;
  /** The completed steps, without those that contain others, in order. */
  readonly steps?: readonly string[];
  /** The steps that the run waits for, in any order. */
  readonly waiting?: readonly string[];
  /** Compares all data with the stored snapshot of the case. */
  readonly snapshot: boolean;
  readonly placeOf: (member: keyof Expectation) => Place;
}

/** Something is wrong with a file of tests, or with a file that it names. */
export interface FileProblem extends Place {
  readonly message: string;
}

export class TestFileError extends Error {
  override readonly name = 'TestFileError' as const;
  readonly problems: readonly FileProblem[];

  constructor(problems: readonly FileProblem[]) {
    super(problems.map(({ column, line, message }) => `${line}:${column}: ${message}`).join('\n'));
    this.problems = problems;
  }
}
