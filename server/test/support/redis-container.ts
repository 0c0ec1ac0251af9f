/** A Redis of the test's own, in a container; or the one that TEST_REDIS names. */
import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers';

export interface TestRedis {
  readonly url: string;
  /** Stops and starts the server; null if it is not ours to stop. */
  readonly container: StartedTestContainer | null;
  stop(): Promise<void>;
}

const PORT = 6379;

/** Null if this machine has none, with a prominent message, because the tests that need it are then skipped. */
export async function startRedis(): Promise<TestRedis | null> {
  const given = process.env['TEST_REDIS'];
  if (given !== undefined) {
    return { url: given, container: null, stop: () => Promise.resolve() };
  }
  try {
    const container = await new GenericContainer('redis:7')
      .withExposedPorts(PORT)
      .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
      .start();
    const url = `redis://${container.getHost()}:${container.getMappedPort(PORT)}`;
    return {
      url,
      container,
      stop: async () => {
        await container.stop();
      },
    };
  } catch (error) {
    console.warn(`\n*** Redis is NOT COVERED by this test run: ${String(error)} ***\n`);
    return null;
  }
}
