/** Definitions: checked, stored as versions, and cached in the form that the engine runs. */
import { LRUCache } from 'lru-cache';
import type { DocumentProblem, WorkflowDefinition } from '../../engine/model/definition.js';
import type { TriggerDefinition } from '../../engine/model/trigger.js';
import { nextTimesOf } from '../../schedules/trigger-times.js';
import { parseDefinition } from '../../engine/definitions/parse-definition.js';
import { typescriptModule } from '../../engine/definitions/typescript-module.js';
import type { IndexPaths } from '../../engine/values/index-fields.js';
import { readJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type JsonObject } from '../../engine/values/json.js';
import { AppError } from '../../base/errors.js';
import type { AllowedNames } from '../../base/allowed-names.js';
import type { ScriptRuntime } from '../../scripts/script-runtime.js';
import type {
  DefinitionRecord,
  DefinitionVersion,
  StoredDefinition,
} from '../../store/records/definitions.js';
import { bodyWithOrigin } from '../../store/definition-origin.js';
import { StoreUnavailableError, type Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import { DefinitionChecker } from './definition-checker.js';
import type {
  DefinitionCheck,
  DefinitionSummary,
  DefinitionView,
  PostedDefinition,
  RegisteredDefinition,
  TriggerTimes,
} from './definition-types.js';
import type { IdempotencyKey } from '../model/idempotency-key.js';
import { type Page, type PageRequest, decodeCursor, pageOf } from '../model/paging.js';
import { hashOf } from '../../base/ids.js';
import { memoryCost } from '../../engine/values/memory-cost.js';
import type { ReadingGate } from '../memory/reading-gate.js';
import { listSummaries, summaryOf } from './definition-summaries.js';
import type { TriggerRegistry } from '../trigger-records/trigger-registry.js';
import type { InputSchemas } from '../../schemas/input-schemas.js';
import type { LimitList } from '../limits/limit-list.js';
import type { StepScripts } from './step-scripts.js';
import { VersionAuthors } from './version-authors.js';

/** How long the latest known version is used without asking the store, if other nodes may add one. */
const LATEST_TTL_MS = 5000;
const CACHE_MAX = 1000;
/** Maximum length of the texts of cached definitions; the parsed form takes a few times as much. */
const CACHE_LENGTH_MAX = 16 * 1024 * 1024;

export interface DefinitionCatalogOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly scripts: ScriptRuntime;
  /** Limits reads for display. */
  readonly reading: ReadingGate;
  readonly stepScripts: StepScripts;
  readonly limits: Pick<LimitList, 'get' | 'names'>;
  readonly inputSchemas: Pick<InputSchemas, 'check'>;
  /** Null: this server doesn't run instances, so it has no secrets. */
  readonly secretNames: (() => readonly string[]) | null;
  /** True while another node could add a version without notifying this node immediately. */
  readonly mayBeStale: () => boolean;
  /** True while other nodes share the store. */
  readonly isShared: () => boolean;
  /** Wraps the insert of a version. */
  readonly triggers: () => Pick<TriggerRegistry, 'register'>;
  /** Called when a new version was stored. */
  readonly stored: (id: string, version: number) => void;
}

export class DefinitionCatalog {
  readonly #options: DefinitionCatalogOptions;
  readonly #checker: DefinitionChecker;
  readonly #authors: VersionAuthors;
  readonly #versions = new LRUCache<string, WorkflowDefinition>({
    max: CACHE_MAX,
    maxSize: CACHE_LENGTH_MAX,
  });
  readonly #latest = new LRUCache<string, { readonly version: number; readonly readAt: number }>({
    max: CACHE_MAX,
  });

  readonly #indexes = new LRUCache<
    string,
    { readonly paths: IndexPaths; readonly readAt: number; isUsed: boolean }
  >({ max: CACHE_MAX });

  /** How often something was forgotten. */
  #forgotten = 0;

  constructor(options: DefinitionCatalogOptions) {
    this.#options = options;
    this.#checker = new DefinitionChecker(options);
    this.#authors = new VersionAuthors(options.store, 'definition');
  }

  /** Strict: warnings count as errors. @throws AppError `invalid_definition` with every problem; `idempotency_conflict` */
  async register(
    { actor, document, origin = null, source, writtenNumber }: PostedDefinition,
    idempotency: IdempotencyKey | null,
    strict = false,
  ): Promise<RegisteredDefinition> {
    const parsed = await this.#checker.check(document, writtenNumber);
    const { canonical, definition, warnings } = parsed;
    if (definition === null || canonical === null || parsed.errors.length > 0) {
      throw invalidDefinition(strict ? [...parsed.errors, ...warnings] : parsed.errors);
    }
    if (strict && warnings.length > 0) throw invalidDefinition(warnings);
    const insert = () =>
      this.#options.store.insertDefinition(
        {
          id: definition.id,
          description: definition.description,
          body: bodyWithOrigin(canonical, origin),
          createdAt: this.#options.clock.now(),
          source,
        },
        idempotency === null
          ? null
          : { id: hashOf('definition', idempotency.key), requestHash: idempotency.requestHash },
      );
    const result = await this.#options.triggers().register(definition, insert);
    if (result.outcome === 'conflict') {
      throw new AppError(
        'idempotency_conflict',
        'This Idempotency-Key was already used for a different definition',
      );
    }
    const { id, version } = result.record;
    this.forget(id);
    this.#options.stored(id, version);
    await this.#authors.note({ name: id, version }, actor);
    return { id, version, warnings };
  }

  /** Stores nothing. @throws AppError `invalid_definition` in strict mode if there is any problem or warning */
  async check(
    { document, writtenNumber }: Pick<PostedDefinition, 'document' | 'writtenNumber'>,
    strict = false,
  ): Promise<DefinitionCheck> {
    const { definition, errors, warnings } = await this.#checker.check(document, writtenNumber);
    const problems = [...errors, ...warnings];
    if (strict && problems.length > 0) throw invalidDefinition(problems);
    const isValid = errors.length === 0;
    const triggers = isValid ? timesOf(definition?.triggers ?? [], this.#options.clock.now()) : [];
    return { valid: isValid, errors, warnings, triggers };
  }

  /** The document with canonical member names and its version. @throws AppError `definition_not_found` */
  get(id: string, version: number | 'latest'): Promise<DefinitionView> {
    return this.#read(id, version, viewOf);
  }

  /** The text as posted, including comments and member order. Null: none was kept, or there is no such version. */
  source(id: string, version: number | 'latest'): Promise<string | null> {
    const { reading, store } = this.#options;
    return reading.read(
      () => store.getDefinitionSource(id, version),
      (text) => memoryCost(text ?? ''),
      (text) => text,
    );
  }

  /** Enables or disables starts of all versions, on all nodes. @throws AppError `definition_not_found` */
  async setDisabled(id: string, disabled: boolean): Promise<DefinitionView> {
    const { store, stored } = this.#options;
    if (!(await store.setDefinitionDisabled(id, disabled))) throw definitionNotFound(id, 'latest');
    return this.#read(id, 'latest', (record) => {
      stored(id, record.version);
      return viewOf({ ...record, disabled });
    });
  }

  /** TypeScript types of the data and the activities. @throws AppError `definition_not_found` */
  types(id: string, version: number | 'latest'): Promise<string> {
    return this.#read(id, version, (record) => typescriptModule(this.#keep(record)));
  }

  /** Reads a whole definition for a view. @throws AppError `definition_not_found` */
  #read<View>(
    id: string,
    version: number | 'latest',
    view: (record: StoredDefinition) => View,
  ): Promise<View> {
    const { reading, store } = this.#options;
    return reading.read(
      async () => {
        const record = await store.getDefinition(id, version);
        if (record === null) throw definitionNotFound(id, version);
        return record;
      },
      ({ body }) => memoryCost(body),
      view,
    );
  }

  async list(page: PageRequest, allowed: AllowedNames = 'all'): Promise<Page<DefinitionSummary>> {
    const after = decodeCursor(page.cursor, 'definitions')?.[0] ?? null;
    const wanted = page.limit + 1;
    const found = await listSummaries(this.#options.store, { after, limit: wanted, allowed });
    return this.#withAuthors(pageOf(found, page.limit, 'definitions', ({ id }) => [id]));
  }

  /** Newest first. @throws AppError `definition_not_found` */
  async listVersions(id: string, page: PageRequest): Promise<Page<DefinitionSummary>> {
    const list = `versions of ${id}`;
    const position = decodeCursor(page.cursor, list);
    const before = position === null ? null : Number(position[0]);
    const found = await this.#options.store.listDefinitionVersions(id, before, page.limit + 1);
    if (found.length === 0 && before === null) throw definitionNotFound(id, 'latest');
    return this.#withAuthors(pageOf(found, page.limit, list, ({ version }) => [String(version)]));
  }

  #withAuthors(page: Page<DefinitionVersion>): Promise<Page<DefinitionSummary>> {
    return this.#authors.addTo(page, ({ id, version }) => ({ name: id, version }));
  }

  /** The definition that new instances use. @throws AppError `definition_not_found` */
  async latest(id: string): Promise<WorkflowDefinition> {
    const known = this.#latest.get(id);
    if (known !== undefined && this.#isFresh(known.readAt)) {
      const definition = this.#versions.get(keyOf(id, known.version));
      if (definition !== undefined) return definition;
    }
    return this.#readLatest(id);
  }

  /** How many instances of all versions run at a time, for each key; null: any number. A removed definition limits nothing. */
  async placesOf(id: string): Promise<number | null> {
    const definition = await this.latest(id).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'definition_not_found') return null;
      throw error;
    });
    return definition?.concurrency?.limit ?? null;
  }

  /** The version of an instance, or null. @throws AppError `internal` if it exists but cannot be read */
  async find(id: string, version: number): Promise<WorkflowDefinition | null> {
    const known = this.#versions.get(keyOf(id, version));
    if (known !== undefined) return known;
    const record = await this.#options.store.getDefinition(id, version);
    return record === null ? null : this.#keep(record);
  }

  /**
   * The index fields of the newest version, which apply to the instances of all versions. Commits don't wait for updates:
   * `refreshIndexPaths` reads them again. If they can't be read, the given version's fields are used.
   */
  indexPaths(definition: WorkflowDefinition): IndexPaths | Promise<IndexPaths> {
    const { id } = definition;
    const known = this.#indexes.get(id);
    if (known !== undefined) {
      known.isUsed = true;
      return known.paths;
    }
    return this.latest(id).then(
      ({ index }) => index,
      () => definition.index,
    );
  }

  /** Rereads the index fields that were used since the last call, so that they are at most a few seconds old. */
  async refreshIndexPaths(): Promise<void> {
    const before = this.#options.clock.now() - LATEST_TTL_MS;
    const used = [...this.#indexes].filter(([, { isUsed, readAt }]) => isUsed && readAt <= before);
    for (const [id, known] of used) {
      try {
        await this.#readLatest(id);
      } catch (error) {
        if (error instanceof StoreUnavailableError) throw error;
        // A version that can't be read doesn't delay the others.
        this.#indexes.set(id, { ...known, readAt: this.#options.clock.now(), isUsed: false });
      }
    }
  }

  /** Called when there may be a newer version. */
  forget(id: string): void {
    this.#forgotten += 1;
    this.#latest.delete(id);
    this.#indexes.delete(id);
  }

  async #readLatest(id: string): Promise<WorkflowDefinition> {
    const forgotten = this.#forgotten;
    const record = await this.#options.store.getDefinition(id, 'latest');
    if (record === null) throw definitionNotFound(id, 'latest');
    const readAt = this.#options.clock.now();
    const definition = this.#keep(record);
    // A version may have been added since the store was read.
    if (forgotten !== this.#forgotten) return definition;
    this.#latest.set(id, { version: record.version, readAt });
    this.#indexes.set(id, { paths: definition.index, readAt, isUsed: false });
    return definition;
  }

  /** The version that a caller wants to start. @throws AppError `definition_not_found` */
  async startable(id: string, version: number | 'latest'): Promise<WorkflowDefinition> {
    if (version === 'latest') return this.latest(id);
    const found = await this.find(id, version);
    if (found === null) throw definitionNotFound(id, version);
    return found;
  }

  #isFresh(readAt: number): boolean {
    if (this.#options.mayBeStale()) return false;
    return !this.#options.isShared() || this.#options.clock.now() - readAt < LATEST_TTL_MS;
  }

  #keep(record: DefinitionRecord): WorkflowDefinition {
    const key = keyOf(record.id, record.version);
    const known = this.#versions.get(key);
    if (known !== undefined) return known;
    const { definition, errors } = parseDefinition(bodyOf(record), { isStored: true });
    if (definition === null) {
      throw new AppError(
        'internal',
        `A stored definition cannot be read: ${describeProblems(errors)}`,
      );
    }
    const versioned = { ...definition, version: record.version };
    this.#versions.set(key, versioned, { size: record.body.length });
    return versioned;
  }
}

function timesOf(triggers: readonly TriggerDefinition[], now: number): readonly TriggerTimes[] {
  return triggers.map(({ name, source }) => ({ name, nextTimes: nextTimesOf(source, now) }));
}

function keyOf(id: string, version: number): string {
  return `${version}:${id}`;
}

/** @throws AppError `internal` for a record that this server did not write */
function bodyOf(record: DefinitionRecord): JsonObject {
  let body: unknown;
  try {
    body = readJson(record.body);
  } catch (cause) {
    throw new AppError('internal', 'A stored definition is not JSON', { cause });
  }
  if (!isJsonObject(body)) throw new AppError('internal', 'A stored definition is not an object');
  return body;
}

function viewOf(record: StoredDefinition): DefinitionView {
  const { disabled, version } = record;
  return { document: { ...bodyOf(record), version, disabled }, summary: summaryOf(record) };
}

export function definitionNotFound(id: string, version: number | 'latest'): AppError {
  const what =
    version === 'latest' ? `definition '${id}'` : `version ${version} of definition '${id}'`;
  return new AppError('definition_not_found', `There is no ${what}`, {
    fields: { definitionId: id },
  });
}

function invalidDefinition(problems: readonly DocumentProblem[]): AppError {
  return new AppError('invalid_definition', describeProblems(problems), { problems });
}

function describeProblems(problems: readonly DocumentProblem[]): string {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  return `The definition has ${count}: ${problems[0]?.message ?? ''}`;
}
