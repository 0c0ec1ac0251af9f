import { createPyodideRuntime } from '../../../src/scripts/pyodide/pyodide-script-runtime.js';
import { describeScriptRuntime } from '../script-runtime-contract.js';
import { createLogCollector } from './start-runtime.js';
import { DEFAULT_PYTHON_LIMITS } from '../../support/default-limits.js';

describeScriptRuntime('Pyodide', (environment) =>
  createPyodideRuntime({
    ...DEFAULT_PYTHON_LIMITS,
    environment,
    logger: createLogCollector().logger,
  }),
);
