/**
 * Turns a posted document (parsed JSON or YAML) into the definition that the engine runs.
 *
 * Owns: the form of a document, and every message about an invalid one. Must not know: bodies and media types, Python's
 * grammar, which scripts exist (a predicate is passed in), where definitions are stored.
 *
 *  D1 Any JSON value is accepted, and none causes an exception: problems are returned as a list.
 *  D2 All problems are found, not only the first; the lists are bounded.
 *  D3 The time is linear in the size of the document.
 *  D4 A definition is returned if and only if there are no errors.
 *  D5 The case of member names does not affect the definition; pointers keep the case of the document.
 */
import { describeValue } from '../values/convert-input.js';
import {
  ERROR_BEHAVIORS,
  type DocumentProblem,
  type InputSchema,
  type StepDefinition,
  type WorkflowDefinition,
} from '../model/definition.js';
import { isJsonObject, type JsonObject } from '../values/json.js';
import { checkConcurrency } from './check-concurrency.js';
import { checkReachability, checkReferences } from './check-references.js';
import { checkSurroundings } from './check-surroundings.js';
import { MemberReader } from './member-reader.js';
import { parseInputSchema } from './parse-input-schema.js';
import { parseIndex, parseTags } from './parse-search-members.js';
import {
  ParseState,
  type CronUse,
  type CustomStepUse,
  type ExpressionSource,
  type LiteralText,
  type ParseOptions,
  type StepLimitUse,
} from './parse-state.js';
import { parseStartRules } from './parse-start-rules.js';
import { parseTriggers } from './parse-triggers.js';
import { parseSteps, type ParsedSteps } from './parse-step.js';
import { TOP_LEVEL } from './step-places.js';
import { DEFINITION_MEMBERS, type DefinitionMember } from './step-members.js';

export type {
  CronUse,
  CustomStepUse,
  ExpressionSource,
  LiteralText,
  ParseOptions,
  StepLimitUse,
} from './parse-state.js';

export interface ParsedDefinition {
  /** Null if there are errors. */
  readonly definition: WorkflowDefinition | null;
  /** The document with canonical member names and without unknown members. Null if there are errors. */
  readonly canonical: JsonObject | null;
  readonly errors: readonly DocumentProblem[];
  readonly warnings: readonly DocumentProblem[];
  /** Every Python expression, even if there are errors, so that all problems can be reported at once. */
  readonly expressions: readonly ExpressionSource[];
  /** Strings that are not evaluated but may have been meant as expressions. */
  readonly literalTexts: readonly LiteralText[];
  readonly stepPointers: ReadonlyMap<string, string>;
  /** The schema in `Input` and its position, even if there are errors elsewhere. */
  readonly input: { readonly schema: InputSchema; readonly pointer: string } | null;
  readonly indexPointer: string;
  /** Every cron expression, even if there are errors. */
  readonly crons: readonly CronUse[];
  /** Every use of a custom step, so that the server can look them up together. */
  readonly customSteps: readonly CustomStepUse[];
  /** Every use of a limit, so that the server can look them up together. */
  readonly limits: readonly StepLimitUse[];
}

const RETENTION_MS_MIN = 1000;

/** The document must not be changed afterwards: the canonical form shares its inputs and outputs. */
export function parseDefinition(document: unknown, options: ParseOptions = {}): ParsedDefinition {
  const state = new ParseState(options);
  if (!isJsonObject(document)) {
    const message = `A definition must be an object, not ${describeValue(document)}.`;
    state.errors.add('wrong_type', '', message);
    return { definition: null, canonical: null, ...findings(state) };
  }
  const reader = new MemberReader(document, '', DEFINITION_MEMBERS, state);
  const id = parseId(reader);
  const description = reader.text('description');
  const defaultErrorBehavior = reader.errorBehavior('defaultErrorBehavior', ERROR_BEHAVIORS);
  const input = parseInputSchema(reader);
  const index = parseIndex(reader);
  const tags = parseTags(reader);
  const startRules = parseStartRules(reader);
  const retentionMs = parseRetention(reader);
  const triggers = parseTriggers(reader);
  const { entryStepId } = parseAllSteps(reader);
  checkReferences(state);
  checkConcurrency(id, startRules.concurrency, state);
  if (!state.errors.isEmpty || id === null || entryStepId === null) {
    return { definition: null, canonical: null, ...findings(state) };
  }
  checkReachability(entryStepId, state);
  const hasRetryInterval = reader.value('defaultErrorRetryInterval') !== null;
  checkSurroundings(
    {
      errorBehavior: defaultErrorBehavior ?? 'Retry',
      retryIntervalPointer: hasRetryInterval ? reader.pointerOf('defaultErrorRetryInterval') : null,
    },
    state,
  );
  const definition = {
    id,
    version: options.version ?? 0,
    description,
    defaultErrorBehavior: defaultErrorBehavior ?? 'Retry',
    input,
    index,
    tags,
    ...startRules,
    retentionMs,
    triggers,
    entryStepId,
    steps: inDocumentOrder(state),
  };
  return { definition, canonical: reader.canonical, ...findings(state) };
}

function findings(state: ParseState): Omit<ParsedDefinition, 'definition' | 'canonical'> {
  return {
    errors: state.errors.toArray(),
    warnings: state.warnings.toArray(),
    expressions: state.expressions,
    literalTexts: state.literalTexts,
    stepPointers: state.stepPointers,
    customSteps: state.customSteps,
    limits: state.limits,
    input: state.input,
    indexPointer: state.indexPointer,
    crons: state.crons,
  };
}

function parseId(reader: MemberReader<DefinitionMember>): string | null {
  const id = reader.name('id');
  const value = reader.value('id');
  if (id === null && (value === null || typeof value === 'string')) {
    reader.fail('id', 'missing_id', 'A definition requires an Id.');
  }
  return id;
}

function parseRetention(reader: MemberReader<DefinitionMember>): number | null {
  const retentionMs = reader.durationMs('retention', '1 second');
  if (retentionMs === null) return null;
  if (retentionMs < RETENTION_MS_MIN) {
    const message = 'Retention must be a duration from 1 second to 100 years.';
    return reader.fail('retention', 'invalid_value', message);
  }
  return Math.ceil(retentionMs);
}

function parseAllSteps(reader: MemberReader<DefinitionMember>): ParsedSteps {
  const defaultRetryIntervalMs = reader.durationMs('defaultErrorRetryInterval');
  const source = reader.value('steps') ?? [];
  const none = { entryStepId: null, canonical: [] };
  if (!Array.isArray(source)) {
    const message = `Steps must be a list of steps, not ${describeValue(source)}.`;
    reader.fail('steps', 'wrong_type', message);
    return none;
  }
  if (source.length === 0) {
    reader.fail('steps', 'no_steps', 'A definition requires at least one step.');
    return none;
  }
  const place = {
    pointer: reader.pointerOf('steps'),
    depth: 0,
    stepPlace: TOP_LEVEL,
    defaultRetryIntervalMs,
  };
  const parsed = parseSteps(source, place, reader.state);
  reader.keep('steps', parsed.canonical);
  return parsed;
}

/** The parser finishes inner steps first, but readers of a definition expect document order. */
function inDocumentOrder(state: ParseState): ReadonlyMap<string, StepDefinition> {
  const steps = new Map<string, StepDefinition>();
  for (const id of state.stepPointers.keys()) {
    const step = state.steps.get(id);
    if (step !== undefined) steps.set(id, step);
  }
  return steps;
}
