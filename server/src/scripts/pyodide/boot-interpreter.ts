/** Starts interpreters' processes: from the snapshot where there is one, slowly where there cannot be. */
import { createChildCommand, findPyodideFolder } from './child-command.js';
import type { BootedInterpreter } from './interpreter-pool.js';
import { InterpreterProcess } from './interpreter-process.js';
import type { RuntimeSettings } from './runtime-options.js';
import { createBootRequest, ensureSnapshot } from './snapshot.js';

const REPLY_OVERHEAD_BYTES = 4096;

export class InterpreterBooter {
  /** Set when the snapshot could not be made or used; interpreters start without it from then on. */
  private isSnapshotUseless = false;

  constructor(private readonly settings: RuntimeSettings) {}

  /** @throws Error when the interpreter does not start or the signal fires */
  async boot(signal: AbortSignal): Promise<BootedInterpreter> {
    const snapshotPath = await this.findSnapshot(signal);
    const { outputLimitBytes, resultLimitBytes, logger } = this.settings;
    const began = performance.now();
    const process = new InterpreterProcess(
      createChildCommand(findPyodideFolder(), snapshotPath === null ? [] : [snapshotPath]),
      resultLimitBytes + outputLimitBytes + REPLY_OVERHEAD_BYTES,
    );
    try {
      const request = createBootRequest(this.settings, { task: 'serve', snapshotPath });
      const { heapBytes } = await process.boot(request, signal);
      const tookMs = Math.round(performance.now() - began);
      logger.info({ tookMs, fromSnapshot: snapshotPath !== null }, 'A Python interpreter is ready');
      return { process, heapBytes };
    } catch (error) {
      process.kill('it did not start');
      await process.waitForExit();
      // Perhaps the snapshot is to blame: the next one starts without.
      if (snapshotPath !== null && !signal.aborted) this.isSnapshotUseless = true;
      throw error;
    }
  }

  private async findSnapshot(signal: AbortSignal): Promise<string | null> {
    if (this.isSnapshotUseless) return null;
    const { snapshotPath, logger } = this.settings;
    try {
      const made = await ensureSnapshot(snapshotPath, signal);
      if (made) logger.info({ snapshotPath }, 'Made the snapshot of a Python interpreter');
      return snapshotPath;
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn(
        { err: error, snapshotPath },
        'Python starts slowly: its snapshot cannot be made',
      );
      this.isSnapshotUseless = true;
      return null;
    }
  }
}
