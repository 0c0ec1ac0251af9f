import { ReadingGate } from './memory/reading-gate.js';
import type { NodeServicesOptions } from './node-options.js';
import { InstanceExports, type InstanceExportsOptions } from './operations/instance-exports.js';
import { ARCHIVE_FILES } from './archive/archive-files.js';
import { RunArchive } from './archive/run-archive.js';

/** Null: nothing is archived. */
export function createRunArchive(
  { archive, clock, logger, metrics, node, settings, store }: NodeServicesOptions,
  { catalog, queries }: Pick<InstanceExportsOptions, 'catalog' | 'queries'>,
): RunArchive | null {
  if (archive === undefined) return null;
  // The archive has its own gate, so that it doesn't wait behind clients.
  const gate = new ReadingGate(settings.instanceMemoryMax, 1);
  const exports = new InstanceExports({ store, catalog, queries, gate });
  const files = ARCHIVE_FILES;
  return new RunArchive({ ...archive, nodeId: node.id, files, clock, logger, metrics, exports });
}
