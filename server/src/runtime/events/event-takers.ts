/**
 * Checks whether instances of certain definitions can take an event, for callers who may publish events only for these
 * definitions.
 */
import { AppError } from '../../base/errors.js';
import type { Clock } from '../../base/clock.js';
import { nameKeyOf } from '../../base/ids.js';
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import { traitsOf } from '../../engine/definitions/step-types.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { InputValue } from '../../engine/model/input-value.js';
import { toName } from '../../engine/values/convert-input.js';
import { FAR_FUTURE_MS, type Store } from '../../store/store.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import type { EventName } from './event-types.js';

export interface EventTakersOptions {
  readonly store: Pick<Store, 'findSubscriptions' | 'getInstance'>;
  readonly catalog: Pick<DefinitionCatalog, 'find' | 'latest' | 'list'>;
  readonly clock: Pick<Clock, 'now'>;
}

const PAGE = 200;
/** Maximum number of waiting instances checked. */
const WAITERS_MAX = 100;
/** Reading all definitions is slow, and callers publish many events. */
const KEPT_MS = 5000;
const KEPT_REACHES_MAX = 100;
/** A plain Python string literal. */
const LITERAL = /^\s*(["'])([^"'\\\n]*)\1\s*$/;

interface KeptNames {
  readonly names: ReadonlySet<string>;
  readonly until: number;
}

export class EventTakers {
  readonly #options: EventTakersOptions;
  readonly #kept = new Map<string, KeptNames>();

  constructor(options: EventTakersOptions) {
    this.#options = options;
  }

  /**
   * True if an allowed definition names the event, in a step that waits for it or in a trigger: in its newest version,
   * or in the version of an instance that waits for the event now. Only a literal name counts: callers who start instances can
   * turn a name computed from data into any name.
   */
  async canTake(event: EventName, allowed: AllowedNames): Promise<boolean> {
    if (allowed === 'all') return true;
    return (await this.#namesWithin(allowed)).has(event.name) || this.#isAwaited(event, allowed);
  }

  async #isAwaited({ key, name }: EventName, allowed: AllowedNames): Promise<boolean> {
    const { catalog, store } = this.#options;
    const nameKey = nameKeyOf(name, key);
    const waiters = await store.findSubscriptions(nameKey, FAR_FUTURE_MS, null, WAITERS_MAX);
    for (const { instanceId } of waiters) {
      const instance = await store.getInstance(instanceId);
      if (instance === null || !allowsName(allowed, instance.definitionId)) continue;
      const { definitionId, version } = instance;
      const names = await this.#namesOf(() => catalog.find(definitionId, version));
      if (names.includes(name)) return true;
    }
    return false;
  }

  async #namesWithin(allowed: readonly string[]): Promise<ReadonlySet<string>> {
    const now = this.#options.clock.now();
    const kept = this.#kept.get(allowed.join(' '));
    if (kept !== undefined && now < kept.until) return kept.names;
    const names = await this.#readNames(allowed);
    if (this.#kept.size >= KEPT_REACHES_MAX) this.#kept.clear();
    this.#kept.set(allowed.join(' '), { names, until: now + KEPT_MS });
    return names;
  }

  async #readNames(allowed: readonly string[]): Promise<ReadonlySet<string>> {
    const { catalog } = this.#options;
    const names = new Set<string>();
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<DefinitionCatalog['list']>> = await catalog.list(
        { cursor, limit: PAGE },
        allowed,
      );
      for (const { id } of page.items) {
        for (const name of await this.#namesOf(() => catalog.latest(id))) names.add(name);
      }
      cursor = page.nextCursor;
    } while (cursor !== null);
    return names;
  }

  /** A definition that can't be read names no events. */
  async #namesOf(read: () => Promise<WorkflowDefinition | null>): Promise<readonly string[]> {
    try {
      const definition = await read();
      return definition === null ? [] : eventNamesOf(definition);
    } catch (error) {
      if (error instanceof AppError) return [];
      throw error;
    }
  }
}

function eventNamesOf({ steps, triggers }: WorkflowDefinition): readonly string[] {
  const awaited = [...steps.values()]
    .flatMap((step) => {
      const named = traitsOf(step).eventNameInput?.toLowerCase();
      return step.inputs.filter(({ name }) => name.toLowerCase() === named);
    })
    .flatMap(({ value }) => literalsIn(value));
  const starting = triggers.flatMap(({ source }) =>
    source.kind === 'event' ? [source.eventName] : [],
  );
  return [...awaited, ...starting];
}

function literalsIn(value: InputValue): readonly string[] {
  if (value.kind === 'constant') {
    const name = toName(value.value);
    return name.ok ? [name.value] : [];
  }
  const text = value.kind === 'expression' ? LITERAL.exec(value.source)?.[2] : undefined;
  return text === undefined ? [] : [text];
}
