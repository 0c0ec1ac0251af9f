/** Checks files with the server's own validator, on a temporary server. */
import type { FileProblems } from '../output/print-problems.js';
import { withOfflineServer } from './offline-server.js';
import { checkDefinition, storeFile, type ServerCalls } from './store-files.js';
import type { WorkflowFile } from './workflow-files.js';

const NOTHING = 'pass\n';

/** What definitions may use even if no file contains it. */
export interface Known {
  readonly stepNames: readonly string[];
  /** By name, as texts of files. */
  readonly limits: ReadonlyMap<string, string>;
}

export function checkFiles(
  files: readonly WorkflowFile[],
  known: Known = { stepNames: [], limits: new Map() },
): Promise<FileProblems[]> {
  return withOfflineServer(async (server) => {
    for (const name of known.stepNames) {
      await storeFile(server, fileOf('script', `${name}.py`, NOTHING));
    }
    for (const [name, text] of known.limits) {
      await storeFile(server, fileOf('limit', `${name}.limit.yaml`, text));
    }
    return checkAll(server, files);
  });
}

function fileOf(kind: WorkflowFile['kind'], path: string, text: string): WorkflowFile {
  return { path, kind, text, unreadable: null, realPath: path };
}

/** In order: scripts and limits come first and are stored, so that definitions can use them. */
async function checkAll(
  server: ServerCalls,
  files: readonly WorkflowFile[],
): Promise<FileProblems[]> {
  const found: FileProblems[] = [];
  for (const file of files) {
    const problems =
      file.kind === 'definition'
        ? await checkDefinition(server, file)
        : ((await storeFile(server, file))?.problems ?? []);
    found.push({ file, problems });
  }
  return found;
}
