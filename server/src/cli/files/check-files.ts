/** Checks files with the server's own validator, on a temporary server. */
import type { FileProblems } from '../output/print-problems.js';
import { withOfflineServer } from './offline-server.js';
import { checkDefinition, storeFile, type ServerCalls } from './store-files.js';
import type { WorkflowFile } from './workflow-files.js';

const NOTHING = 'pass\n';

/** @param stepNames custom steps that definitions may use even if no file contains them */
export function checkFiles(
  files: readonly WorkflowFile[],
  stepNames: readonly string[] = [],
): Promise<FileProblems[]> {
  return withOfflineServer(async (server) => {
    for (const name of stepNames) {
      const path = `${name}.py`;
      await storeFile(server, {
        path,
        kind: 'script',
        text: NOTHING,
        unreadable: null,
        realPath: path,
      });
    }
    return checkAll(server, files);
  });
}

/** In order: scripts come first and are stored, so that definitions can use them. */
async function checkAll(
  server: ServerCalls,
  files: readonly WorkflowFile[],
): Promise<FileProblems[]> {
  const found: FileProblems[] = [];
  for (const file of files) {
    const problems =
      file.kind === 'script'
        ? ((await storeFile(server, file))?.problems ?? [])
        : await checkDefinition(server, file);
    found.push({ file, problems });
  }
  return found;
}
