// A server process that kills itself right before a store call, and otherwise is the built server. CRASH_AT selects the
// call: `insertEvent 2` is the second call of that name. It uses the composition of the build; the production code
// contains no such hook.
import { createServer } from 'node:http';
import { composeServer } from '../../../dist/compose-server.js';
import { readConfig } from '../../../dist/config/read-config.js';
import { createLogger } from '../../../dist/base/logger.js';
import { observeStore } from '../../../dist/store/observed-store.js';

const crashAt = process.env.CRASH_AT ?? '';
/** The number of calls of each operation. */
const calls = {};

const server = await composeServer({
  config: readConfig(process.env),
  environment: {},
  logger: createLogger({ level: 'warn' }),
  wrapStore: (store) =>
    observeStore(store, {
      before: ({ name }) => {
        calls[name] = (calls[name] ?? 0) + 1;
        if (`${name} ${calls[name]}` === crashAt) {
          process.send?.({ crashing: crashAt });
          process.kill(process.pid, 'SIGKILL');
          // The signal may take a moment, in which nothing must happen.
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
