/** Custom steps: scripts by name. Their latest version runs. */
import { LRUCache } from 'lru-cache';
import { scriptHint } from '../../engine/definitions/late-problems.js';
import { findStepType } from '../../engine/definitions/step-types.js';
import type { DocumentProblem } from '../../engine/model/definition.js';
import { readPinnedStep } from '../../engine/model/pinned-step.js';
import { AppError } from '../../base/errors.js';
import type { ScriptRuntime } from '../../scripts/script-runtime.js';
import type { StepScriptRecord, StepScriptVersion } from '../../store/records/definitions.js';
import { memoryCost } from '../../engine/values/memory-cost.js';
import type { ReadingGate } from '../memory/reading-gate.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import { type Page, type PageRequest, decodeCursor, pageOf } from '../model/paging.js';
import type { StepScriptSummary, StepScriptView, StoredScript } from './custom-step-types.js';
import { scriptWarnings } from './script-warnings.js';
import { VersionAuthors } from './version-authors.js';

/** Number of scripts per read. */
const SCRIPTS_AT_ONCE = 40;
/** How long a script is treated as the latest if other nodes may store a newer one. */
const TTL_MS = 5000;
const CACHE_MAX = 1000;
/** Maximum length of the cached scripts, in characters. */
const CACHE_LENGTH_MAX = 16 * 1024 * 1024;

export interface StepScriptsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly scripts: ScriptRuntime;
  /** Limits reads for display. */
  readonly reading: ReadingGate;
  readonly mayBeStale: () => boolean;
  readonly isShared: () => boolean;
  readonly hintOthers: (name: string) => void;
}

export class StepScripts {
  readonly #options: StepScriptsOptions;
  readonly #authors: VersionAuthors;
  readonly #cache = new LRUCache<
    string,
    { readonly script: StepScriptRecord; readonly readAt: number }
  >({
    max: CACHE_MAX,
    maxSize: CACHE_LENGTH_MAX,
    sizeCalculation: ({ script }) => script.source.length + 1,
  });

  constructor(options: StepScriptsOptions) {
    this.#options = options;
    this.#authors = new VersionAuthors(options.store, 'script');
  }

  /**
   * @param actor the actor who stores it; default: no client
   * @throws AppError `invalid_script` with line and column, in strict mode also for warnings; `reserved_step_name`
   */
  async put(name: string, source: string, strict = false, actor?: string): Promise<StoredScript> {
    if (findStepType(name) !== null) {
      throw new AppError(
        'reserved_step_name',
        `'${name}' is a built-in step type; choose another name`,
        {
          fields: { stepName: name },
        },
      );
    }
    if (readPinnedStep(name).version !== 'latest') {
      throw new AppError(
        'invalid_request',
        `The name '${name}' ends like a version of another custom step; choose a name without @ and a number at its end`,
        { fields: { stepName: name } },
      );
    }
    const [problem] = await this.#options.scripts.checkSyntax('script', [source]);
    if (problem !== undefined) {
      const { column, line, message } = problem;
      const said = `Python syntax error in the script: ${message}${scriptHint(source, line)}`;
      throw new AppError('invalid_script', said, {
        fields: {
          stepName: name,
          ...(line === null ? {} : { line }),
          ...(column === null ? {} : { column }),
        },
      });
    }
    const warnings = await scriptWarnings(source, this.#options.scripts);
    if (strict && warnings.length > 0) throw oddScript(name, warnings);
    const createdAt = this.#options.clock.now();
    const script = await this.#options.store.insertStepScript({ name, source, createdAt });
    this.forget(name);
    this.#options.hintOthers(name);
    await this.#authors.note(script, actor);
    return { ...script, warnings };
  }

  /** @throws AppError `step_not_found` */
  async get(name: string, version: number | 'latest'): Promise<StepScriptView> {
    const { reading, store } = this.#options;
    const script = await reading.read(
      () => store.getStepScript(name, version),
      (found) => memoryCost(found?.source ?? ''),
      (found) => found,
    );
    if (script === null) throw stepNotFound(name, version);
    return script;
  }

  /** Newest first. @throws AppError `step_not_found` */
  async listVersions(name: string, page: PageRequest): Promise<Page<StepScriptSummary>> {
    const list = `versions of ${name}`;
    const position = decodeCursor(page.cursor, list);
    const before = position === null ? null : Number(position[0]);
    const found = await this.#options.store.listStepScriptVersions(name, before, page.limit + 1);
    if (found.length === 0 && before === null) throw stepNotFound(name, 'latest');
    const versions = pageOf(found, page.limit, list, ({ version }) => [String(version)]);
    return this.#authors.addTo(versions, (version) => version);
  }

  async list(page: PageRequest): Promise<Page<StepScriptSummary>> {
    const after = decodeCursor(page.cursor, 'steps')?.[0] ?? null;
    return this.#authors.addTo(
      pageOf(await this.#listFrom(after, page.limit + 1), page.limit, 'steps', ({ name }) => [
        name,
      ]),
      (version) => version,
    );
  }

  /** Reads a few at a time, so that a page of long scripts fits into memory. */
  async #listFrom(after: string | null, limit: number): Promise<readonly StepScriptVersion[]> {
    const found: StepScriptVersion[] = [];
    for (let read = after; found.length < limit; read = found.at(-1)?.name ?? null) {
      const part = await this.#options.store.listStepScripts(read, SCRIPTS_AT_ONCE);
      found.push(...part.map(({ name, version, createdAt }) => ({ name, version, createdAt })));
      if (part.length < SCRIPTS_AT_ONCE) break;
    }
    return found.slice(0, limit);
  }

  /** The script for a step that runs now: the latest with its name, or the version that the step type names. */
  async find(stepType: string): Promise<StepScriptRecord | null> {
    const { clock, isShared, mayBeStale, store } = this.#options;
    const { name, version } = readPinnedStep(stepType);
    const cached = this.#cache.get(stepType);
    // A version never changes.
    const isFresh =
      cached !== undefined &&
      (version !== 'latest' ||
        (!mayBeStale() && (!isShared() || clock.now() - cached.readAt < TTL_MS)));
    if (isFresh) return cached.script;
    const script = await store.getStepScript(name, version);
    if (script !== null) this.#cache.set(stepType, { script, readAt: clock.now() });
    return script;
  }

  /** The step types that have a script. */
  async known(stepTypes: readonly string[]): Promise<ReadonlySet<string>> {
    const scripts = await Promise.all(stepTypes.map((stepType) => this.find(stepType)));
    return new Set(stepTypes.filter((_, index) => scripts[index] !== null));
  }

  forget(name: string): void {
    this.#cache.delete(name);
  }
}

function oddScript(stepName: string, problems: readonly DocumentProblem[]): AppError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  const message = `The script has ${count}: ${problems[0]?.message ?? ''}`;
  const place = problems[0]?.place;
  return new AppError('invalid_script', message, { problems, fields: { stepName, ...place } });
}

function stepNotFound(name: string, version: number | 'latest'): AppError {
  const what = version === 'latest' ? '' : `version ${version} of `;
  return new AppError('step_not_found', `There is no ${what}custom step '${name}'`, {
    fields: { stepName: name },
  });
}
