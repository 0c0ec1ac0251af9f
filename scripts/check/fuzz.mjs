/**
 * Runs the long fuzz tests: `FUZZ_SECONDS` each (default 600), one after the other, and then all requests that grow. A
 * finding names the FUZZ_SEED that reproduces it. Called by: `pnpm fuzz`.
 */
import { build } from '../build/build.mjs';
import { runMain, runTool } from '../tool.mjs';

await runMain(async () => {
  await build();
  const env = { FUZZ_SECONDS: '600', GROWTH: 'all', NIGHTLY: 'all', ...process.env };
  const folders = ['server/test/security/fuzz', 'server/test/security/growth'];
  const fuzzers = [...folders, ...process.argv.slice(2)];
  runTool('vitest', ['run', '--project', 'server', '--no-file-parallelism', ...fuzzers], {
    env: { ...env, PATH: `node_modules/.bin:${env.PATH}` },
  });
});
