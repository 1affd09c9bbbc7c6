// Validates an OpenAPI document against the official schema of its version.
import { Validator } from "@seriousme/openapi-schema-validator";

const validator = new Validator();
const result = await validator.validate(process.argv[2]);
if (!result.valid || validator.version !== "3.1") {
  console.error(JSON.stringify(result.errors, null, 2));
  console.error(`${process.argv[2]}: not a valid OpenAPI 3.1 document (read as ${validator.version})`);
  process.exit(1);
}
console.log(`${process.argv[2]}: valid OpenAPI ${validator.version}`);
