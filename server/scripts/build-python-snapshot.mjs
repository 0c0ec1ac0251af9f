/**
 * Makes the memory snapshot that Python starts from (see src/scripts/pyodide/snapshot.ts), unless it is there already.
 * Run by the build, after the server was compiled. Older snapshots are removed.
 */
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { defaultSnapshotPath, ensureSnapshot } from '../dist/scripts/pyodide/snapshot.js';

const path = defaultSnapshotPath();
await ensureSnapshot(path, AbortSignal.timeout(120_000));
for (const file of readdirSync(dirname(path))) {
  if (file !== basename(path) && file.endsWith('.bin')) rmSync(join(dirname(path), file));
}
