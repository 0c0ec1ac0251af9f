import { createPyodideRuntime } from '../../../src/scripts/pyodide/pyodide-script-runtime.js';
import { describeScriptRuntime } from '../script-runtime-contract.js';
import { createLogCollector } from './start-runtime.js';

describeScriptRuntime('Pyodide', (environment) =>
  createPyodideRuntime({ environment, logger: createLogCollector().logger }),
);
