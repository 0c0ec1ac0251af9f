/**
 * Copies expired instances to files before retention removes them: one line of JSON for each, as in an export, in a compressed
 * file for each day.
 *
 * Owns: the files of this process. No other process writes to them, because their names contain the id of the node, which is
 * different for each process. Must not know: the contents of the lines, and when instances expire.
 *
 *  AR3 An instance is removed only after its line is on the disk. So after a crash it may be in the files twice, but is never
 *      in none.
 *  AR4 An instance that can't be exported is kept. It doesn't delay others, unless this node has found too many of them.
 */
import { join } from 'node:path';
import { AppError } from '../../base/errors.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { EndedInstance } from '../../store/records/housekeeping.js';
import { StoreUnavailableError } from '../../store/store.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceExport, InstanceExports } from '../operations/instance-exports.js';
import { ArchiveBatch, EMPTY_FILE } from './archive-batch.js';
import type { ArchiveFiles, OpenFile } from './archive-files.js';

export interface RunArchiveOptions {
  readonly directory: string;
  readonly nodeId: string;
  readonly files: ArchiveFiles;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'instancesArchived' | 'archiveFailed'>;
  readonly exports: Pick<InstanceExports, 'export'>;
  /** The line of an instance, without a line break. */
  readonly textOf: (exported: InstanceExport) => AsyncIterable<string>;
}

/** Maximum number of instances that are skipped because they cannot be exported. */
const SKIPPED_MAX = 1000;

export class RunArchive {
  readonly #options: RunArchiveOptions;
  readonly #skipped = new Set<string>();
  #path = '';
  /** The end of the last batch in the file. */
  #end = 0;
  /** Distinguishes files of one day if one of them was changed by another process. */
  #number = 1;

  constructor(options: RunArchiveOptions) {
    this.#options = options;
  }

  /** Ids that no longer need to be tried. */
  get skipped(): ReadonlySet<string> {
    return this.#skipped;
  }

  /**
   * Resolves with the exported instances once they are on disk. The others are logged.
   *
   * @throws Error if the file cannot be written; then nothing may be removed
   */
  async append(instances: readonly EndedInstance[]): Promise<readonly EndedInstance[]> {
    const { directory, logger, metrics } = this.#options;
    try {
      const file = await this.#open();
      try {
        const batch = new ArchiveBatch(file, this.#end);
        const archived = await this.#addAll(batch, instances);
        const end = await batch.commit();
        this.#end = end;
        metrics.instancesArchived(archived.length);
        return archived;
      } finally {
        await file.close();
      }
    } catch (error) {
      metrics.archiveFailed();
      const message = 'expired runs cannot be archived: none is removed until this is solved';
      logger.error({ err: error, archiveDir: directory }, message);
      throw error;
    }
  }

  async #addAll(
    batch: ArchiveBatch,
    instances: readonly EndedInstance[],
  ): Promise<readonly EndedInstance[]> {
    const archived: EndedInstance[] = [];
    for (const instance of instances) {
      const problem = await this.#add(batch, instance.id);
      if (problem === null) archived.push(instance);
      else this.#skip(instance.id, problem);
    }
    return archived;
  }

  /** Why the instance can't be exported; null if it was. @throws Error if the file cannot be written, or the store read */
  async #add(batch: ArchiveBatch, id: string): Promise<unknown> {
    const { exports, textOf } = this.#options;
    try {
      const problem = await exports.export(id, (exported) => batch.add(textOf(exported)), {
        partial: true,
      });
      if (problem instanceof StoreUnavailableError) throw problem;
      return problem;
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  #skip(workflowId: string, error: unknown): void {
    const { logger, metrics } = this.#options;
    // Another node, or a user, has removed it.
    if (error instanceof AppError && error.code === 'workflow_not_found') return;
    metrics.archiveFailed();
    if (this.#skipped.size < SKIPPED_MAX) this.#skipped.add(workflowId);
    logger.error({ err: error, workflowId }, 'a run cannot be exported, so it is not removed');
  }

  /** Today's file, as this process left it. */
  async #open(): Promise<OpenFile> {
    const { clock, directory, files, nodeId } = this.#options;
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    for (;;) {
      const number = this.#number === 1 ? '' : `-${this.#number}`;
      const path = join(directory, `${day}-${nodeId}${number}.ndjson.gz`);
      const file = await files.open(path);
      if (file === null) {
        await files.create(path, EMPTY_FILE);
        [this.#path, this.#end] = [path, EMPTY_FILE.length];
        continue;
      }
      // It may be longer, if it contains the rest of a failed batch.
      if (path === this.#path && (await sizeOf(file)) >= this.#end) return file;
      await file.close();
      this.#number += 1;
    }
  }
}

async function sizeOf(file: OpenFile): Promise<number> {
  try {
    return await file.size();
  } catch (error) {
    await file.close();
    throw error;
  }
}
