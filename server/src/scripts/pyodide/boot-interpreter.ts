/** Starts the processes of interpreters: from the snapshot if there is one, otherwise slowly. */
import { createChildCommand, filesOfChild, findPyodideFolder, NOBODY } from './child-command.js';
import { findHiddenPath } from './hidden-path.js';
import { ANSWER_OVERHEAD_BYTES } from './frames.js';
import type { BootedInterpreter } from './interpreter-supply.js';
import { InterpreterProcess } from './interpreter-process.js';
import type { RuntimeSettings } from './runtime-options.js';
import { createBootRequest, ensureSnapshot } from './snapshot.js';

export class InterpreterBooter {
  readonly #settings: RuntimeSettings;

  /** Set if the snapshot could not be created or used; from then on, interpreters start without it. */
  #isSnapshotUseless = false;
  /** An interpreter does not need root. False if the user nobody cannot read the server's files. */
  #startsAsNobody: boolean;

  constructor(settings: RuntimeSettings) {
    this.#settings = settings;
    this.#startsAsNobody = process.getuid?.() === 0 && this.#isReadableByNobody();
  }

  /** @throws Error if the interpreter does not start, or the signal fires */
  async boot(signal: AbortSignal): Promise<BootedInterpreter> {
    const snapshotPath = await this.#findSnapshot(signal);
    const { outputLimitBytes, resultLimitBytes, logger } = this.#settings;
    const began = performance.now();
    const command = createChildCommand(
      findPyodideFolder(),
      snapshotPath === null ? [] : [snapshotPath],
    );
    const interpreter = new InterpreterProcess(
      this.#startsAsNobody ? { ...command, userId: NOBODY } : command,
      resultLimitBytes + outputLimitBytes + ANSWER_OVERHEAD_BYTES,
    );
    try {
      const request = createBootRequest(this.#settings, { task: 'serve', snapshotPath });
      const { heapBytes } = await interpreter.boot(request, signal);
      const tookMs = Math.round(performance.now() - began);
      logger.info(
        { processId: interpreter.id, tookMs, fromSnapshot: snapshotPath !== null },
        'a Python interpreter is ready',
      );
      return { process: interpreter, heapBytes };
    } catch (error) {
      interpreter.kill('it did not start');
      await interpreter.waitForExit();
      if (!signal.aborted) this.#startDifferentlyNextTime();
      throw error;
    }
  }

  #isReadableByNobody(): boolean {
    const hidden = findHiddenPath(filesOfChild());
    if (hidden === null) return true;
    const message =
      'Python runs as root, because other users cannot read the files of the server; run the server as a user of its own';
    this.#settings.logger.warn({ path: hidden }, message);
    return false;
  }

  /** First without the snapshot, which may be corrupt; if that does not help, as the server's own user. */
  #startDifferentlyNextTime(): void {
    if (!this.#isSnapshotUseless) {
      this.#isSnapshotUseless = true;
    } else if (this.#startsAsNobody) {
      this.#startsAsNobody = false;
      this.#isSnapshotUseless = false;
    }
  }

  async #findSnapshot(signal: AbortSignal): Promise<string | null> {
    if (this.#isSnapshotUseless) return null;
    const { snapshotPath, logger } = this.#settings;
    try {
      const made = await ensureSnapshot(snapshotPath, signal);
      if (made) logger.info({ snapshotPath }, 'created the snapshot of a Python interpreter');
      return snapshotPath;
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn(
        { err: error, snapshotPath },
        'could not create a Python snapshot; interpreters will start more slowly',
      );
      this.#isSnapshotUseless = true;
      return null;
    }
  }
}
