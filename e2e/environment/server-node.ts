/** One node: the built server as a process of its own. */
import { SpawnedServer } from '../../server/test/support/spawned-server.js';

export type ServerNode = SpawnedServer;

/** `E2E_SERVER_MAIN`: another build, such as one that has a safeguard taken out. */
const MAIN = process.env['E2E_SERVER_MAIN'];

/** Starts a server on a free port; it resolves when it listens. `main`: of another build than this one. */
export function startNode(
  environment: Readonly<Record<string, string>>,
  main: string | undefined = MAIN,
): Promise<ServerNode> {
  const settings = { ...environment, PORT: '0', LOG_LEVEL: 'warn', PYTHON_SPARES: '0' };
  return SpawnedServer.start(settings, { main });
}
