#!/usr/bin/env node
import { runInstitution } from '../dist/index.js';

await runInstitution();
