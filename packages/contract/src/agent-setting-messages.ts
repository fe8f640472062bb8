/** Why agent settings are not saved or applied. Part of `refusals`. */
export const agentSettingRefusals = {
  setting_unknown: [400, 'An agent has no such setting'],
  setting_whole: [400, '{name} must be a whole number from {least} to {most}'],
  setting_ports: [400, '{name} must list port numbers and ranges like 8000-8999'],
  setting_shuts_out: [
    400,
    '{name} leaves out {address}, from which this console connects: the agent would refuse all of its connections'
  ],
  setting_prefixes: [400, '{name} must list addresses or prefixes like 203.0.113.7'],
  setting_switch: [400, '{name} must be on or off'],
  setting_needs_upgrade: [
    409,
    '{name}: the agent of the server is too old for ranges of ports and would not start with them. Upgrade it first to {version}, or save without applying.'
  ],
  settings_no_login: [409, 'The console has no SSH login of the server: copy the lines there by hand']
} as const
