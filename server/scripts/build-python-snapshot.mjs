/**
 * Creates the memory snapshot from which Python starts (see src/scripts/pyodide/snapshot.ts), unless it exists. The
 * build runs this after compiling the server. Removes older snapshots.
 */
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { defaultSnapshotPath, ensureSnapshot } from '../dist/scripts/pyodide/snapshot.js';

const path = defaultSnapshotPath();
await ensureSnapshot(path, AbortSignal.timeout(120_000));
for (const file of readdirSync(dirname(path))) {
  if (file !== basename(path) && file.endsWith('.bin')) rmSync(join(dirname(path), file));
}
