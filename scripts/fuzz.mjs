/** Fuzzes for long: `FUZZ_SECONDS` each (600 unless set), one after the other. A finding names the FUZZ_SEED that repeats it. */
import { build } from './build.mjs';
import { runMain, runTool } from './stage.mjs';

await runMain(async () => {
  await build();
  const env = { FUZZ_SECONDS: '600', ...process.env };
  const fuzzers = ['server/test/security/fuzz', ...process.argv.slice(2)];
  runTool('vitest', ['run', '--project', 'server', '--no-file-parallelism', ...fuzzers], {
    env: { ...env, PATH: `node_modules/.bin:${env.PATH}` },
  });
});
