/** One node: the built server in its own process. */
import { SpawnedServer } from '../../server/test/support/spawned-server.js';

export type ServerNode = SpawnedServer;

/** `E2E_SERVER_MAIN`: another build, such as one without a safeguard. */
const MAIN = process.env['E2E_SERVER_MAIN'];

/** Starts a server on a free port; resolves when it is listening. `main`: the main file of another build. */
export function startNode(
  environment: Readonly<Record<string, string>>,
  main: string | undefined = MAIN,
): Promise<ServerNode> {
  const settings = { ...environment, PORT: '0', LOG_LEVEL: 'warn', PYTHON_SPARES: '0' };
  return SpawnedServer.start(settings, { main });
}
