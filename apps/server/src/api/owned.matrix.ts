/** Calls about one thing that belongs to a customer. */
export const OWNED = {
  order: [
    'GET /api/orders/order_list/:id/get_proxy_detail/',
    'GET /api/orders/order_list/:id/traffic/',
    'GET /api/orders/order_list/:id/credits/',
    'POST /api/orders/order_list/:id/cancel/',
    'POST /api/orders/order_list/:id/reset_proxy_password/',
    'GET /api/orders/order_list/:id/check_proxy/',
    'POST /api/orders/order_list/:id/order-renew-checkout/',
    'GET /api/orders/order_list/:id/export_proxies/',
    'GET /api/orders/order_list/:id/copy_proxies/',
    'GET /api/orders/order_list/:id/client_access/',
    'PUT /api/orders/order_list/:id/client_access/',
    'POST /api/orders/order_list/:id/reset_proxy/',
    'PUT /api/orders/order_list/:id/label/',
    'GET /api/orders/order_list/:id/receipts/'
  ],
  orderKey: ['GET /api/orders/checkout'],
  apiKey: ['DELETE /api/users/api_keys/:id/'],
  session: ['DELETE /api/users/sessions/:id/'],
  webhook: [
    'PUT /api/webhooks/endpoints/:id/',
    'DELETE /api/webhooks/endpoints/:id/',
    'POST /api/webhooks/endpoints/:id/rotate_secret/',
    'POST /api/webhooks/endpoints/:id/test/'
  ],
  ticket: ['GET /api/tickets/own/:id/', 'POST /api/tickets/own/:id/message/'],
  webhookDelivery: ['GET /api/webhooks/deliveries/:id/', 'POST /api/webhooks/deliveries/:id/resend/']
}
