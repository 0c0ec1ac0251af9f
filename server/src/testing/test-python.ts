/** Python for tests: one interpreter, which sees the time and the random numbers of the server that uses it. */
import { createScripts } from '../compose.js';
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

const SETTINGS = { PYTHON_PROCESSES: '1' };

export class TestPython implements AsyncDisposable {
  readonly #scripts: ScriptRuntime;
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
      checkSyntax: (...call) => quiescence.during(() => scripts.checkSyntax(...call)),
      ...(scripts.examine && { examine: scripts.examine }),
      ...(scripts.findForbiddenImports && { findForbiddenImports: scripts.findForbiddenImports }),
      statistics: () => scripts.statistics(),
    };
  }

  stop(): Promise<void> {
    return this.#scripts.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
