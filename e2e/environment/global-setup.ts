/** Starts the databases once for all files of the suite. */
import type { TestProject } from 'vitest/node';
import { findBackingServices } from './backing-services.js';

declare module 'vitest' {
  interface ProvidedContext {
    readonly dbhost: string | null;
    readonly redis: string | null;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await findBackingServices();
  console.log(`e2e runs on ${services.description}`);
  project.provide('dbhost', services.dbhost);
  project.provide('redis', services.redis);
  return () => services.stop();
}
