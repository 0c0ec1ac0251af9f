/** Applies a definition to a start: its data and tags, its reference and conflict rule, its fairness and its concurrency. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import {
  DEFAULT_FAIRNESS_WEIGHT,
  DEFAULT_PRIORITY,
  toFairnessWeight,
  type ConflictScope,
  type Fairness,
  type OnConflict,
  type StartFairness,
  type StartKey,
} from '../../engine/model/start-options.js';
import type { InputValue } from '../../engine/model/input-value.js';
import { mergeTags } from '../../engine/model/start-tags.js';
import type { Tags } from '../../engine/values/tags.js';
import { toLimitKey, toName, type Conversion } from '../../engine/values/convert-input.js';
import { requestOf } from '../../engine/model/expression-plan.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import { AppError } from '../../base/errors.js';
import type { InputSchemas } from '../../schemas/input-schemas.js';
import { isRefusal, type ScriptRuntime } from '../../scripts/script-runtime.js';
import type { ConflictRule } from '../../store/records/instances.js';
import type { NewInstance, StartConcurrency } from '../instance-state/new-instance.js';
import { weightWithoutKey } from '../model/start-fairness.js';
import { triggerContext } from '../passes/evaluator.js';

const MESSAGE_LENGTH_MAX = 1000;

export interface StartAdmissionOptions {
  readonly inputSchemas: Pick<InputSchemas, 'admit'>;
  readonly scripts: Pick<ScriptRuntime, 'evaluate'>;
  /** The newest version of a definition. */
  readonly latest: (id: string) => Promise<WorkflowDefinition>;
}

/** A start as requested. */
export interface RequestedStart {
  /** Its reference and conflict rule are ignored: `key` has them. */
  readonly start: NewInstance;
  readonly key: StartKey;
  readonly fairness: StartFairness;
  readonly tags: Tags | undefined;
  /** Whether it starts the newest version of its definition, as far as this node knows. */
  readonly isLatest: boolean;
  /** The actor who terminates replaced instances. */
  readonly actor: string;
  /** Input doesn't apply to the data. */
  readonly isAdmitted?: boolean;
}

/** A member of the definition that is evaluated on the start data. */
interface StartMember<T> {
  readonly name: string;
  readonly source: InputValue;
  readonly convert: (value: Json) => Conversion<T>;
}

type Content = Required<Pick<NewInstance, 'data' | 'tags' | 'priority'>>;
type Keyed = Pick<NewInstance, 'reference' | 'conflict'>;

export class StartAdmission {
  readonly #options: StartAdmissionOptions;

  constructor(options: StartAdmissionOptions) {
    this.#options = options;
  }

  /**
   * The instance to insert: with the defaults of the definition's Input, and its tags, reference and conflict rule.
   * @throws AppError `invalid_data`, `invalid_request`, `expression_failed`, `python_unavailable`
   */
  async admit(asked: RequestedStart): Promise<NewInstance> {
    const content = await this.contentOf(asked);
    const { data } = content;
    const keyed = await this.keyOf(asked, data);
    const fairness = await this.#fairnessOf(asked, data);
    const concurrency = await this.#concurrencyOf(asked, data);
    const own = { ...content, ...keyed, fairness };
    return { ...asked.start, ...own, ...(concurrency !== null && { concurrency }) };
  }

  /** The data, the tags and the priority. @throws AppError `invalid_data`, `invalid_request` */
  async contentOf({
    isAdmitted,
    start,
    tags,
  }: Pick<RequestedStart, 'isAdmitted' | 'start' | 'tags'>): Promise<Content> {
    const { data, definition, restartOf } = start;
    // A restarted instance has exactly the tags of the first one.
    const all = restartOf === undefined ? tagsOf(definition, tags) : (tags ?? {});
    const own = { tags: all, priority: start.priority ?? definition.priority ?? DEFAULT_PRIORITY };
    if (definition.input === null || isAdmitted === true) return { data, ...own };
    return { data: await this.#options.inputSchemas.admit(definition, data), ...own };
  }

  /**
   * The reference and the conflict rule of a start with this data. A restart keeps the first start's, whatever the definition
   * says.
   * @throws AppError `invalid_request`, `expression_failed`, `python_unavailable`
   */
  async keyOf(asked: RequestedStart, data: JsonObject): Promise<Keyed> {
    const { key, start } = asked;
    const { definition, restartOf } = start;
    if (restartOf !== undefined) return { reference: key.reference, conflict: undefined };
    const reference = isGiven(key.reference)
      ? key.reference
      : ((await this.#referenceOf(start, data)) ?? key.reference);
    const ofDefinition = isGiven(reference) ? definition.onConflict : null;
    const onConflict = key.onConflict ?? ofDefinition ?? 'allow';
    if (onConflict !== 'allow' && !isGiven(reference)) throw withoutReference(onConflict);
    const scope = key.conflictScope ?? definition.conflictScope ?? 'open';
    return { reference, conflict: ruleOf(asked, onConflict, scope) };
  }

  /**
   * The key and the weight of the start, of the definition or of the parent, in this order.
   * @throws AppError `invalid_request`, `expression_failed`, `python_unavailable`
   */
  async #fairnessOf(
    { fairness: asked, start }: RequestedStart,
    data: JsonObject,
  ): Promise<Fairness | null> {
    const { definition, inheritedFairness = null } = start;
    const inherited = definition.fairness === null ? inheritedFairness : null;
    const key =
      asked.key === undefined
        ? (inherited?.key ?? (await this.#fairnessKeyOf(start, data)))
        : asked.key;
    if (key === null) {
      if (asked.weight === undefined) return null;
      throw weightWithoutKey();
    }
    const weight = asked.weight ?? inherited?.weight ?? (await this.#weightOf(start, data));
    return { key, weight: weight ?? DEFAULT_FAIRNESS_WEIGHT };
  }

  async #fairnessKeyOf(start: NewInstance, data: JsonObject): Promise<string | null> {
    const source = start.definition.fairness?.key ?? null;
    if (source === null) return null;
    const convert = orNone(toLimitKey);
    return this.#evaluate(start, data, { name: 'Key of Fairness', source, convert });
  }

  async #weightOf(start: NewInstance, data: JsonObject): Promise<number | null> {
    const source = start.definition.fairness?.weight ?? null;
    if (source === null) return null;
    const convert = toFairnessWeight;
    return this.#evaluate(start, data, { name: 'Weight of Fairness', source, convert });
  }

  /** The newest version's, whichever version starts. */
  async #concurrencyOf(
    { isLatest, start }: RequestedStart,
    data: JsonObject,
  ): Promise<StartConcurrency | null> {
    const definition = isLatest
      ? start.definition
      : await this.#options.latest(start.definition.id);
    const { concurrency } = definition;
    if (concurrency === null) return null;
    const { key, limit, maxQueued, onFull } = concurrency;
    const value =
      key === null
        ? null
        : await this.#evaluate({ ...start, definition }, data, {
            name: 'Key of Concurrency',
            source: key,
            convert: orNone(toLimitKey),
          });
    return { key: value ?? '', limit, maxQueued, onFull };
  }

  /** Null: the definition sets none, or none for this data. */
  async #referenceOf(start: NewInstance, data: JsonObject): Promise<string | null> {
    const { reference: source } = start.definition;
    if (source === null) return null;
    return this.#evaluate(start, data, { name: 'Reference', source, convert: orNone(toName) });
  }

  /** Null for None. @throws AppError `expression_failed`, `python_unavailable` */
  async #evaluate<T>(
    { definition, trigger }: NewInstance,
    data: JsonObject,
    member: StartMember<T>,
  ): Promise<T | null> {
    const context = {
      Workflow: { DefinitionId: definition.id, Version: definition.version },
      Trigger: trigger === undefined ? null : triggerContext(trigger),
    };
    const requests = [requestOf(member.source)];
    const options = { definitionId: definition.id };
    const result = await this.#options.scripts.evaluate(requests, { data, context }, options);
    if (result.ok) return converted(definition, member, result.values[0] ?? null);
    const { message, type } = result.error;
    if (isRefusal(result.error)) throw new AppError('python_unavailable', message);
    throw expressionFailed(definition, member, `${type}: ${message}`);
  }
}

/** An empty reference counts as none. */
function isGiven(reference: string | null): reference is string {
  return reference !== null && reference !== '';
}

function converted<T>(
  definition: WorkflowDefinition,
  member: StartMember<T>,
  value: Json,
): T | null {
  if (value === null) return null;
  const conversion = member.convert(value);
  if (conversion.ok) return conversion.value;
  throw expressionFailed(definition, member, conversion.message);
}

/** An empty text counts as none. */
function orNone(convert: (value: Json) => Conversion<string>) {
  return (value: Json): Conversion<string | null> =>
    value === '' ? { ok: true, value: null } : convert(value);
}

function ruleOf(
  { actor, start }: RequestedStart,
  onConflict: OnConflict,
  scope: ConflictScope,
): ConflictRule | undefined {
  switch (onConflict) {
    case 'allow':
      return undefined;
    case 'fail':
      return { action: 'refuse', scope };
    case 'existing':
      return { action: 'join', scope };
    case 'queue':
      return { action: 'queue', queued: false };
    case 'terminate': {
      // Only open instances can be terminated, whatever the scope.
      const { id, startTime: time } = start;
      const detail = `replaced by run ${id}`;
      return { action: 'terminate', audit: { time, actor, action: 'terminate', detail } };
    }
  }
}

function withoutReference(onConflict: OnConflict): AppError {
  return new AppError('invalid_request', `onConflict=${onConflict} needs a reference`, {
    parameter: 'onConflict',
  });
}

function expressionFailed(
  { id }: WorkflowDefinition,
  { name, source: value }: Pick<StartMember<unknown>, 'name' | 'source'>,
  problem: string,
): AppError {
  const source = value.kind === 'expression' ? ` '${value.source}'` : '';
  const message = `The ${name}${source} of definition '${id}' failed: ${problem}`;
  return new AppError('expression_failed', message.slice(0, MESSAGE_LENGTH_MAX), {
    fields: { definitionId: id },
  });
}

/** @throws AppError `invalid_request` */
function tagsOf(definition: WorkflowDefinition, ofStart: Tags = {}): Tags {
  const { problem, tags } = mergeTags(definition.tags, ofStart);
  if (problem === null) return tags;
  throw new AppError('invalid_request', `Invalid tags: ${problem}`, { parameter: 'tag' });
}
