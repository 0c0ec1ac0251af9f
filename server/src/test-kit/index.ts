/** The test kit: a server in the process of a test, with virtual time. */
import './check-node.js';

export type {
  ActivityContext,
  ActivityHandler,
  ActivityHandlers,
  ActivityOptions,
} from './activity-handlers.js';
export type { Answer, Mock, MockResponse, Mocks } from './answers.js';
export { UnmockedCallError } from './answers.js';
export type { DefinitionSource } from './definition-source.js';
export { TestPython, type TestPythonOptions } from './python.js';
export type { TestRun } from './run.js';
export {
  createTestServer,
  TestServer,
  type TestLimit,
  type TestServerOptions,
  type TestStartOptions,
} from './server.js';
