/**
 * Fails if a committed generated file differs from what the sources produce, so that no change of the API goes
 * unnoticed.
 *
 * Called by: `pnpm check:generated`, verify.mjs.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENT, generateApi, generateSdkSchema, SDK_SCHEMA } from '../build/generate.mjs';
import { listFiles, root, runMain, runTool } from '../tool.mjs';

await runMain(async () => {
  // Without stamps, everything is generated again.
  rmSync(join(root, '.cache/stamps/api.txt'), { force: true });
  rmSync(join(root, '.cache/stamps/sdk-schema.txt'), { force: true });
  await generateApi();
  await generateSdkSchema();
  const committed = [DOCUMENT, SDK_SCHEMA].filter((file) => listFiles(file).length > 0);
  for (const file of committed) runTool('git', ['diff', '--exit-code', 'HEAD', '--', file]);
  console.log('Generated files are up to date');
});
