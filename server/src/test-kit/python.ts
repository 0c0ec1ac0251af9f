/** Python for tests: one interpreter, which sees the time and the random numbers of the server that uses it. */
import { LRUCache } from 'lru-cache';
import { createScripts } from '../compose-scripts.js';
import type { ExpressionFacts } from '../engine/definitions/expression-facts.js';
import { readConfig } from '../config/read-config.js';
import { createLogger } from '../base/logger.js';
import type { EvaluationResult, ScriptRuntime } from '../scripts/script-runtime.js';
import type { Quiescence } from './quiescence.js';
import type { SeenConditions } from './seen-conditions.js';

export interface TestPythonOptions {
  /** `environment` in expressions. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The time and the random numbers of the next call. */
type NextMoment = () => { readonly time: number; readonly seed: number };

const CHECKED_MAX = 1000;
/** A spare would cost as much as the interpreter; a test whose script breaks it waits for the next one. */
const SETTINGS = { PYTHON_PROCESSES: '1', PYTHON_SPARES: '0' };

export class TestPython implements AsyncDisposable {
  readonly #scripts: ScriptRuntime;
  /** Every case registers the same definitions and scripts. */
  readonly #checked = new LRUCache<string, ReturnType<ScriptRuntime['checkSyntax']>>({
    max: CHECKED_MAX,
  });
  readonly #examined = new LRUCache<string, { readonly facts: ExpressionFacts | null }>({
    max: CHECKED_MAX,
  });
  #nextMoment: NextMoment = () => {
    throw new Error('no server uses this interpreter');
  };

  constructor({ environment = {} }: TestPythonOptions = {}) {
    this.#scripts = createScripts({
      config: readConfig(SETTINGS),
      environment,
      logger: createLogger({ level: 'silent' }),
      chance: { nextMoment: () => this.#nextMoment() },
    });
  }

  /** The calls of this server see its time from now on. Its stop leaves the interpreter running. */
  usedBy(
    quiescence: Quiescence,
    nextMoment: NextMoment,
    conditions: SeenConditions | null = null,
  ): ScriptRuntime {
    this.#nextMoment = nextMoment;
    const scripts = this.#scripts;
    return {
      get ready() {
        return scripts.ready;
      },
      waitUntilReady: () => scripts.waitUntilReady(),
      start: () => scripts.start(),
      stop: () => Promise.resolve(),
      evaluate: (expressions, variables, options) => {
        const note = (evaluated: EvaluationResult): EvaluationResult => {
          conditions?.note(expressions, variables, evaluated);
          return evaluated;
        };
        const result = scripts.evaluate(expressions, variables, options);
        return result instanceof Promise
          ? quiescence.during(() => result.then(note))
          : note(result);
      },
      runScript: (...call) => quiescence.during(() => scripts.runScript(...call)),
      checkSyntax: (...call) => quiescence.during(() => this.#checkSyntax(...call)),
      examine: (source) => this.#examine(source),
      ...(scripts.findForbiddenImports && { findForbiddenImports: scripts.findForbiddenImports }),
      statistics: () => scripts.statistics(),
    };
  }

  /** Boots the interpreter before a server uses it. */
  start(): Promise<void> {
    return this.#scripts.start();
  }

  stop(): Promise<void> {
    return this.#scripts.stop();
  }

  #examine(source: string): ExpressionFacts | null {
    const known = this.#examined.get(source);
    if (known !== undefined) return known.facts;
    const facts = this.#scripts.examine?.(source) ?? null;
    this.#examined.set(source, { facts });
    return facts;
  }

  #checkSyntax(
    ...call: Parameters<ScriptRuntime['checkSyntax']>
  ): ReturnType<ScriptRuntime['checkSyntax']> {
    const key = JSON.stringify(call);
    const known = this.#checked.get(key);
    if (known !== undefined) return known;
    const found = this.#scripts.checkSyntax(...call);
    this.#checked.set(key, found);
    // It may be that there was no interpreter.
    found.catch(() => this.#checked.delete(key));
    return found;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
