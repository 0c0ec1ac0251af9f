// Preloaded into nodes under test (NODE_OPTIONS): the process is killed DIE_AFTER_MS after its start, wherever it is by
// then, possibly before it listens. The server itself contains no support for this.
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(process.env.DIE_AFTER_MS)).unref();
}
