/** Limits for clients: set up, list and remove. */
import { AppError } from '../../base/errors.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { LimitSettings } from '../../engine/model/limit.js';
import { invariant } from '../../engine/model/invariant.js';
import { parseLimit } from '../../engine/definitions/parse-limit.js';
import type { ResourceRecord } from '../../store/records/resources.js';
import type { LimitUse as StoredUse } from '../../store/records/slots.js';
import type { Store } from '../../store/store.js';
import { decodeCursor, pageOf, type Page, type PageRequest } from '../model/paging.js';
import type { NamedLimitUse } from '../fleet/limit-metrics.js';
import { readLimit, writeLimit, type StoredLimit } from './limit-codec.js';
import type { LimitList } from './limit-list.js';
import type { LimitUse, LimitView, PostedLimit } from './limit-types.js';

export interface LimitsOptions {
  readonly store: Pick<
    Store,
    'countSlots' | 'getResource' | 'listResources' | 'removeResource' | 'saveResource'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly list: Pick<LimitList, 'forget'>;
  /** The definitions whose newest version names the limit, in ascending order. At most `max`. */
  readonly usersOf: (name: string, max: number) => Promise<readonly string[]>;
  /** Called after each change, when this node already knows it. */
  readonly changed: (name: string) => void;
}

export interface PutLimit {
  readonly limit: LimitView;
  readonly isNew: boolean;
}

const ATTEMPTS_MAX = 20;
const USERS_SHOWN_MAX = 100;
const USES_MAX = 500;

export class Limits {
  readonly #options: LimitsOptions;

  constructor(options: LimitsOptions) {
    this.#options = options;
  }

  /** Sets up a limit, or replaces it as a whole. @throws AppError `invalid_request` with every problem */
  async put(name: string, { actor, ...posted }: PostedLimit): Promise<PutLimit> {
    const settings = settingsOf(name, posted);
    const { clock, logger, store } = this.#options;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const known = await store.getResource('limit', name);
      const createdBy = known === null ? actor : readLimit(known).createdBy;
      const stored: StoredLimit = { ...settings, createdBy, updatedAt: clock.now() };
      const record: ResourceRecord = {
        kind: 'limit',
        name,
        revision: (known?.revision ?? 0) + 1,
        expiresAt: null,
        body: writeLimit(stored),
      };
      if (!(await store.saveResource(record, known?.revision ?? null))) continue;
      logger.info({ limit: name, actor }, 'set up a limit');
      this.#changed(name);
      const [limit] = await this.#viewsOf([record]);
      return { limit, isNew: known === null };
    }
    throw new AppError('overloaded', `The limit '${name}' is being changed by others; try again`);
  }

  /** @throws AppError `limit_not_found` */
  async get(name: string): Promise<LimitView> {
    const found = await this.#options.store.getResource('limit', name);
    if (found === null) throw limitNotFound(name);
    const [limit] = await this.#viewsOf([found]);
    return limit;
  }

  /** In order of name. */
  async list(page: PageRequest): Promise<Page<LimitView>> {
    const after = decodeCursor(page.cursor, 'limits')?.[0] ?? null;
    const found = await this.#options.store.listResources('limit', after, page.limit + 1);
    const { items, nextCursor } = pageOf(found, page.limit, 'limits', ({ name }) => [name]);
    const [first, ...others] = items;
    const limits = first === undefined ? [] : await this.#viewsOf([first, ...others]);
    return { items: limits, nextCursor };
  }

  /** For metrics: the use of the first limits by name. @throws StoreUnavailableError */
  async uses(): Promise<readonly NamedLimitUse[]> {
    const { clock, store } = this.#options;
    const found = await store.listResources('limit', null, USES_MAX);
    const names = found.map(({ name }) => name);
    const uses = names.length === 0 ? [] : await store.countSlots(names, clock.now());
    return names.map((name, index) => ({ name, ...useOf(uses[index]) }));
  }

  /** @throws AppError `limit_not_found`; `limit_in_use` while the newest version of a definition names it */
  async remove(name: string, actor: string): Promise<void> {
    const { logger, store, usersOf } = this.#options;
    if ((await store.getResource('limit', name)) === null) throw limitNotFound(name);
    const users = await usersOf(name, USERS_SHOWN_MAX);
    if (users.length > 0) throw limitInUse(name, users);
    if (!(await store.removeResource('limit', name))) throw limitNotFound(name);
    logger.info({ limit: name, actor }, 'removed a limit');
    this.#changed(name);
  }

  #changed(name: string): void {
    this.#options.list.forget(name);
    this.#options.changed(name);
  }

  async #viewsOf(
    records: readonly [ResourceRecord, ...ResourceRecord[]],
  ): Promise<readonly [LimitView, ...LimitView[]]> {
    const { clock, store } = this.#options;
    const names = records.map(({ name }) => name);
    const uses = await store.countSlots(names, clock.now());
    const [first, ...others] = records.map((record, index): LimitView => ({
      ...readLimit(record),
      ...useOf(uses[index]),
    }));
    invariant(first !== undefined, 'each limit has a view');
    return [first, ...others];
  }
}

function useOf({ held = 0, keys = [], waiting = 0 }: Partial<StoredUse> = {}): LimitUse {
  const shown = keys.map(({ key, ...use }) => ({ ...use, key: key === '' ? null : key }));
  return { held, waiting, keys: shown };
}

/** @throws AppError `invalid_request` */
function settingsOf(
  name: string,
  { document, ...options }: Omit<PostedLimit, 'actor'>,
): LimitSettings {
  const { errors, limit, name: given, namePointer: pointer } = parseLimit(document, options);
  const problems = [...errors];
  if (given !== null && given !== name) {
    const message = `The Name '${given}' is not the name of the limit in the path, '${name}'.`;
    problems.push({ code: 'invalid_value', message, pointer });
  }
  if (limit !== null && problems.length === 0) return limit;
  throw new AppError('invalid_request', problems[0]?.message ?? '', { problems });
}

function limitInUse(name: string, definitionIds: readonly string[]): AppError {
  const [first = ''] = definitionIds;
  const others = definitionIds.length > 1 ? ' and others' : '';
  const message = `The limit '${name}' is in use by the definition '${first}'${others}: remove it from their steps first`;
  return new AppError('limit_in_use', message, { fields: { definitionIds } });
}

function limitNotFound(name: string): AppError {
  return new AppError('limit_not_found', `There is no limit with the name '${name}'`);
}
