// A server process that kills itself right before its n-th store call (CRASH_AT), and otherwise is the built server.
// It is made of the build's own composition; what production runs carries no such hook.
import { createServer } from 'node:http';
import { compose } from '../../../dist/compose.js';
import { readConfig } from '../../../dist/config.js';
import { createLogger } from '../../../dist/logger.js';
import { observeStore } from '../../../dist/store/observed-store.js';

const crashAt = Number(process.env.CRASH_AT ?? '0');
let calls = 0;

const server = compose({
  config: readConfig(process.env),
  environment: {},
  logger: createLogger({ level: 'warn' }),
  wrapStore: (store) =>
    observeStore(store, {
      before: ({ name }) => {
        calls += 1;
        if (calls === crashAt) {
          process.send?.({ crashing: name, call: calls });
          process.kill(process.pid, 'SIGKILL');
          // The signal may take a moment; nothing may happen in it.
          return new Promise(() => undefined);
        }
        return undefined;
      },
    }),
});
await server.host.start();
const http = createServer(server.app);
http.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${http.address().port}` }),
);
process.on('message', () => process.send?.({ calls }));
process.on('disconnect', () => process.exit(0));
