/** Starts the databases once for all files of the suite. */
import type { TestProject } from 'vitest/node';
import { findBackingServices } from './backing-services.js';

declare module 'vitest' {
  interface ProvidedContext {
    readonly mongo: string | null;
    readonly redis: string | null;
    readonly postgres: string | null;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await findBackingServices();
  console.log(`e2e runs on ${services.description}`);
  project.provide('mongo', services.mongo);
  project.provide('redis', services.redis);
  project.provide('postgres', services.postgres);
  return () => services.stop();
}
