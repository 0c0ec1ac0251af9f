/**
 * Parses a step and everything nested in it.
 *
 * Owns: the members of a step. Must not know: whether the steps that it names exist (see check-references.ts).
 */
import { describeValue, quoteText } from '../values/convert-input.js';
import {
  DEFAULT_RETRY_INTERVAL_MS,
  ERROR_BEHAVIORS,
  type ExhaustedBehavior,
  type StepDefinition,
  type StepPlace,
} from '../model/definition.js';
import { isJsonObject, type Json, type JsonObject } from '../values/json.js';
import { childPointer } from './json-pointer.js';
import { checkName, MemberReader } from './member-reader.js';
import type { ParseState } from './parse-state.js';
import { parseStepLimits } from './parse-step-limits.js';
import {
  parseCancelCondition,
  parseInputs,
  parseOutputs,
  parseSelectNextStep,
} from './parse-step-values.js';
import { STEP_MEMBERS, type StepMember } from './step-members.js';
import { readPinnedStep } from '../model/pinned-step.js';
import { findStepType, type StepType } from './step-types.js';

const EXHAUSTED_BEHAVIORS: readonly ExhaustedBehavior[] = ['Suspend', 'Terminate', 'Compensate'];
const MAX_RETRIES = 1_000_000_000;
const MAX_BACKOFF = 1000;

/** The position of a list of steps, and the defaults that apply to them. */
export interface StepsPlace {
  readonly pointer: string;
  /** The number of Do and CompensateWith around them. */
  readonly depth: number;
  /** Of each of the steps. */
  readonly stepPlace: StepPlace;
  readonly defaultRetryIntervalMs: number | null;
}

export interface ParsedSteps {
  /** The id of the first step; null if there is no usable one. */
  readonly entryStepId: string | null;
  readonly canonical: readonly Json[];
}

/** A list of steps: one sequence of Do, a CompensateWith, or the steps of the definition. */
export function parseSteps(
  list: readonly unknown[],
  place: StepsPlace,
  state: ParseState,
): ParsedSteps {
  const canonical: JsonObject[] = [];
  let entryStepId: string | null = null;
  for (const [index, source] of list.entries()) {
    const pointer = childPointer(place.pointer, index);
    if (!state.admitStep(pointer)) break;
    if (!isJsonObject(source)) {
      const message = `A step must be an object, not ${describeValue(source)}.`;
      state.errors.add('wrong_type', pointer, message);
      continue;
    }
    const reader = new MemberReader(source, pointer, STEP_MEMBERS, state);
    const stepId = parseStep(reader, { ...place, pointer });
    if (index === 0) entryStepId = stepId;
    canonical.push(reader.canonical);
  }
  return { entryStepId, canonical };
}

type StepReader = MemberReader<StepMember>;

/** Reads the members in canonical order and returns the id of the step. */
function parseStep(reader: StepReader, place: StepsPlace): string | null {
  const { state } = reader;
  const id = parseStepId(reader);
  const { type, typeName } = parseStepType(reader);
  const step: StepDefinition = {
    id: id ?? '',
    place: place.stepPlace,
    type: type?.name ?? null,
    typeName,
    name: reader.text('name'),
    nextStepId: parseNextStepId(reader),
    selectNextStep: parseSelectNextStep(reader, type),
    // An unknown type accepts any input: the error about the type is enough.
    inputs: parseInputs(reader, type),
    outputs: parseOutputs(reader, type),
    do: parseDo(reader, place, { id: id ?? '', typeName }),
    cancelCondition: parseCancelCondition(reader),
    proceedOnCancel: reader.boolean('proceedOnCancel'),
    errorBehavior: reader.errorBehavior('errorBehavior', ERROR_BEHAVIORS),
    retryIntervalMs:
      reader.durationMs('retryInterval') ??
      place.defaultRetryIntervalMs ??
      DEFAULT_RETRY_INTERVAL_MS,
    maxRetries: reader.number('maxRetries', [0, MAX_RETRIES], true),
    retryBackoff: reader.number('retryBackoff', [1, MAX_BACKOFF], false) ?? 1,
    retryJitter: reader.number('retryJitter', [0, 1], false) ?? 0,
    retriesFirst: reader.value('maxRetries') !== null || reader.value('retryBackoff') !== null,
    onRetriesExhausted: reader.errorBehavior('onRetriesExhausted', EXHAUSTED_BEHAVIORS),
    nonRetryable: parseNonRetryable(reader),
    timeoutMs: parseTimeout(reader),
    limits: parseStepLimits(reader, type),
    compensateWith: parseCompensateWith(reader, place, id ?? ''),
    saga: reader.boolean('saga'),
    graceMs: reader.durationMs('grace'),
  };
  if (id !== null) {
    state.steps.set(id, step);
    state.postedSteps.set(id, reader);
  }
  return id;
}

function parseStepId(reader: StepReader): string | null {
  const { state } = reader;
  const id = reader.name('id');
  if (id === null) {
    const isWrongType = isJsonObject(reader.value('id')) || Array.isArray(reader.value('id'));
    if (!isWrongType) reader.fail('id', 'missing_step_id', 'Every step requires an Id.');
    return null;
  }
  const first = state.stepPointers.get(id);
  if (first === undefined) {
    state.stepPointers.set(id, reader.pointer);
  } else {
    const message = `The step id ${quoteText(id)} is already used by ${first}; step ids must be unique in the whole definition, including nested steps.`;
    reader.fail('id', 'duplicate_step_id', message);
  }
  return id;
}

function parseStepType(reader: StepReader): { type: StepType | null; typeName: string } {
  const { state } = reader;
  const typeName = reader.text('stepType')?.trim() ?? '';
  if (typeName === '') {
    const value = reader.value('stepType');
    if (value === null || typeof value === 'string') {
      reader.fail('stepType', 'missing_step_type', 'Every step requires a StepType.');
    }
    return { type: null, typeName };
  }
  const type = findStepType(typeName);
  reader.keep('stepType', type?.name ?? typeName);
  if (type !== null) return { type, typeName: type.name };
  const pointer = reader.pointerOf('stepType');
  checkName(readPinnedStep(typeName).name, pointer, state);
  state.customSteps.push({ name: typeName, pointer });
  return { type: null, typeName };
}

function parseNextStepId(reader: StepReader): string | null {
  const stepId = reader.name('nextStepId');
  if (stepId !== null) {
    reader.state.references.push({ stepId, pointer: reader.pointerOf('nextStepId') });
  }
  return stepId;
}

/** Exact names of error types, as errors show them: `ValueError`, `ActivityFailed`. */
function parseNonRetryable(reader: StepReader): readonly string[] {
  const source = reader.value('nonRetryable') ?? [];
  if (!Array.isArray(source)) {
    const message = `NonRetryable must be a list of error types, not ${describeValue(source)}.`;
    reader.fail('nonRetryable', 'wrong_type', message);
    return [];
  }
  const types: string[] = [];
  // Array.isArray narrows to any[]; each item is checked below.
  for (const [index, item] of (source as unknown[]).entries()) {
    const pointer = childPointer(reader.pointerOf('nonRetryable'), index);
    if (!reader.state.admitValues(1, pointer)) break;
    if (typeof item === 'string' && item.trim() !== '') {
      types.push(item.trim());
    } else {
      const message = `An error type must be a string such as "ValueError", not ${describeValue(item)}.`;
      reader.state.errors.add('wrong_type', pointer, message);
    }
  }
  if (types.length > 0) reader.keep('nonRetryable', types);
  return types;
}

function parseTimeout(reader: StepReader): number | null {
  const timeoutMs = reader.durationMs('timeout');
  if (timeoutMs !== 0) return timeoutMs;
  return reader.fail('timeout', 'invalid_value', 'A Timeout must be longer than 0.');
}

/** The entry of each sequence. A flat list of steps is one sequence; empty sequences are left out. */
function parseDo(
  reader: StepReader,
  place: StepsPlace,
  { id, typeName }: { readonly id: string; readonly typeName: string },
): readonly string[] {
  const { state } = reader;
  const type = findStepType(typeName);
  const source = reader.value('do') ?? [];
  const pointer = reader.pointerOf('do');
  if (!Array.isArray(source)) {
    const message = `Do must be a list of sequences, each a list of steps, not ${describeValue(source)}.`;
    reader.fail('do', 'wrong_type', message);
    return [];
  }
  const sequences = readSequences(source, pointer, state);
  const hasSteps = sequences.some(({ steps }) => steps.length > 0);
  warnAboutDo(reader, type, { typeName, hasSteps });
  if (sequences.length === 0 || !admitDepth(place, pointer, state)) return [];
  const entries: string[] = [];
  const canonical: Json[] = [];
  for (const sequence of sequences) {
    const inner = {
      ...place,
      pointer: sequence.pointer,
      depth: place.depth + 1,
      stepPlace: { container: id, compensates: null },
    };
    const parsed = parseSteps(sequence.steps, inner, state);
    canonical.push(parsed.canonical);
    if (parsed.entryStepId !== null) entries.push(parsed.entryStepId);
  }
  reader.keep('do', canonical);
  return entries;
}

interface Sequence {
  readonly pointer: string;
  readonly steps: readonly unknown[];
}

function readSequences(
  source: readonly unknown[],
  pointer: string,
  state: ParseState,
): readonly Sequence[] {
  if (source.length === 0) return [];
  if (!source.some((item) => Array.isArray(item))) return [{ pointer, steps: source }];
  const sequences: Sequence[] = [];
  for (const [index, item] of source.entries()) {
    const itemPointer = childPointer(pointer, index);
    if (!state.admitValues(1, itemPointer)) break;
    // Array.isArray narrows to any[]; each item is checked below.
    if (Array.isArray(item)) sequences.push({ pointer: itemPointer, steps: item as unknown[] });
    else {
      const message = `Each sequence in Do must be a list of steps, not ${describeValue(item)}.`;
      state.errors.add('wrong_type', itemPointer, message);
    }
  }
  return sequences;
}

function warnAboutDo(
  reader: StepReader,
  type: StepType | null,
  about: { readonly typeName: string; readonly hasSteps: boolean },
): void {
  const pointer = reader.pointerOf('do');
  const { warnings } = reader.state;
  const runsDo = type?.runsDo ?? false;
  if (runsDo && !about.hasSteps) {
    warnings.add('empty_do', pointer, `${about.typeName} has no steps in Do, so it does nothing.`);
  }
  if (!runsDo && about.hasSteps) {
    const message = `${about.typeName || 'This step'} does not run the steps in Do.`;
    warnings.add('unused_do', pointer, message);
  }
}

function parseCompensateWith(reader: StepReader, place: StepsPlace, id: string): string | null {
  const { state } = reader;
  const source = reader.value('compensateWith') ?? [];
  const pointer = reader.pointerOf('compensateWith');
  if (!Array.isArray(source)) {
    const message = `CompensateWith must be a list of steps, not ${describeValue(source)}.`;
    return reader.fail('compensateWith', 'wrong_type', message);
  }
  if (source.length === 0 || !admitDepth(place, pointer, state)) return null;
  const stepPlace = { container: place.stepPlace.container, compensates: id };
  const inner = { ...place, pointer, depth: place.depth + 1, stepPlace };
  const parsed = parseSteps(source, inner, state);
  reader.keep('compensateWith', parsed.canonical);
  return parsed.entryStepId;
}

function admitDepth(place: StepsPlace, pointer: string, state: ParseState): boolean {
  if (place.depth < state.maxDepth) return true;
  const message = `Do and CompensateWith can be nested at most ${state.maxDepth} levels deep.`;
  state.errors.add('too_deep', pointer, message);
  return false;
}
