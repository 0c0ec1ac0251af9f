// Preloaded into nodes under test (NODE_OPTIONS): the process is killed DIE_AFTER_MS after its start, wherever it is by
// then, also before it listens. Nothing of the server knows of it.
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(process.env.DIE_AFTER_MS)).unref();
}
