# Steps that others make more than 1 % longer.
.steps | 100 * (map(select(.shared > 1.01 * .alone)) | length) / length
