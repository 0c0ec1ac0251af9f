import { TestPython } from '../python.js';

/** The interpreters of one command: one for each environment, because they take most of a second to start. */
export class TestPythons implements AsyncDisposable {
  readonly #byEnvironment = new Map<string, TestPython>();

  of(environment: Readonly<Record<string, string>>): TestPython {
    const key = JSON.stringify(Object.entries(environment).sort());
    let python = this.#byEnvironment.get(key);
    if (python === undefined) {
      python = new TestPython({ environment });
      this.#byEnvironment.set(key, python);
    }
    return python;
  }

  /** Boots the interpreter of most cases, while other work goes on. */
  start(): void {
    void this.of({}).start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#byEnvironment.values()].map((python) => python.stop()));
  }
}
