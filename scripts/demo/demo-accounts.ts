// Only in demo mode.
export const DEMO_ADMIN = { username: 'admin', password: 'Admin#2026', email: 'admin@example.com' }
export const DEMO_CUSTOMER = { username: 'demo1', password: 'Demo#2026', email: 'demo1@example.com' }
