/** Builds what is stale, then runs the server until it ends; its exit code is ours. */
import { build } from './build.mjs';
import { runMain } from './stage.mjs';
import { runServer } from './run-server.mjs';

await runMain(async () => {
  await build();
  process.exitCode = await runServer();
});
