/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints what a program sees of the headers: sizes, offsets, numbers. Built twice, against our headers and against
 * those of the system's librdmacm-dev; the test compares what the two print.
 */
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdio.h>

#ifdef RAI_RDMA_CMA_H
_Static_assert(RDMA_CM_EVENT_ADDRINFO_RESOLVED == 16, "as the kernel's");
_Static_assert(RDMA_CM_EVENT_ADDRINFO_ERROR == 17, "as the kernel's");
_Static_assert(RDMA_CM_EVENT_USER == 18, "as the kernel's");
_Static_assert(RDMA_CM_EVENT_INTERNAL == 19, "as the kernel's");
_Static_assert(RAI_SA == 0x10 && RAI_DNS == 0x20, "as newer librdmacm's");
_Static_assert(RDMA_OPTION_ID_ACK_TIMEOUT == 3, "as newer librdmacm's");
_Static_assert(offsetof(struct rdma_cm_event, param.arg) == offsetof(struct rdma_cm_event, param.conn),
	       "arg is one more member of the union");
#endif

#define SIZE(type) printf("sizeof(" #type ") %zu\n", sizeof(type))
#define AT(type, member) \
	printf(#type "." #member " %zu %zu\n", offsetof(type, member), sizeof(((type *)0)->member))
#define NUMBER(name) printf(#name " %llu\n", (unsigned long long)(name))

static void ids(void)
{
	SIZE(struct rdma_ib_addr);
	AT(struct rdma_ib_addr, sgid);
	AT(struct rdma_ib_addr, dgid);
	AT(struct rdma_ib_addr, pkey);
	SIZE(struct rdma_addr);
	AT(struct rdma_addr, src_addr);
	AT(struct rdma_addr, src_sin);
	AT(struct rdma_addr, src_sin6);
	AT(struct rdma_addr, src_storage);
	AT(struct rdma_addr, dst_addr);
	AT(struct rdma_addr, dst_sin);
	AT(struct rdma_addr, dst_sin6);
	AT(struct rdma_addr, dst_storage);
	AT(struct rdma_addr, addr.ibaddr);
	SIZE(struct rdma_route);
	AT(struct rdma_route, addr);
	AT(struct rdma_route, path_rec);
	AT(struct rdma_route, num_paths);
	SIZE(struct rdma_event_channel);
	AT(struct rdma_event_channel, fd);
	SIZE(struct rdma_cm_id);
	AT(struct rdma_cm_id, verbs);
	AT(struct rdma_cm_id, channel);
	AT(struct rdma_cm_id, context);
	AT(struct rdma_cm_id, qp);
	AT(struct rdma_cm_id, route);
	AT(struct rdma_cm_id, ps);
	AT(struct rdma_cm_id, port_num);
	AT(struct rdma_cm_id, event);
	AT(struct rdma_cm_id, send_cq_channel);
	AT(struct rdma_cm_id, send_cq);
	AT(struct rdma_cm_id, recv_cq_channel);
	AT(struct rdma_cm_id, recv_cq);
	AT(struct rdma_cm_id, srq);
	AT(struct rdma_cm_id, pd);
	AT(struct rdma_cm_id, qp_type);
}

static void parameters(void)
{
	SIZE(struct rdma_conn_param);
	AT(struct rdma_conn_param, private_data);
	AT(struct rdma_conn_param, private_data_len);
	AT(struct rdma_conn_param, responder_resources);
	AT(struct rdma_conn_param, initiator_depth);
	AT(struct rdma_conn_param, flow_control);
	AT(struct rdma_conn_param, retry_count);
	AT(struct rdma_conn_param, rnr_retry_count);
	AT(struct rdma_conn_param, srq);
	AT(struct rdma_conn_param, qp_num);
	SIZE(struct rdma_ud_param);
	AT(struct rdma_ud_param, private_data);
	AT(struct rdma_ud_param, private_data_len);
	AT(struct rdma_ud_param, ah_attr);
	AT(struct rdma_ud_param, qp_num);
	AT(struct rdma_ud_param, qkey);
	SIZE(struct rdma_cm_event);
	AT(struct rdma_cm_event, id);
	AT(struct rdma_cm_event, listen_id);
	AT(struct rdma_cm_event, event);
	AT(struct rdma_cm_event, status);
	AT(struct rdma_cm_event, param);
	AT(struct rdma_cm_event, param.conn);
	AT(struct rdma_cm_event, param.ud);
}

static void addresses(void)
{
	SIZE(struct rdma_addrinfo);
	AT(struct rdma_addrinfo, ai_flags);
	AT(struct rdma_addrinfo, ai_family);
	AT(struct rdma_addrinfo, ai_qp_type);
	AT(struct rdma_addrinfo, ai_port_space);
	AT(struct rdma_addrinfo, ai_src_len);
	AT(struct rdma_addrinfo, ai_dst_len);
	AT(struct rdma_addrinfo, ai_src_addr);
	AT(struct rdma_addrinfo, ai_dst_addr);
	AT(struct rdma_addrinfo, ai_src_canonname);
	AT(struct rdma_addrinfo, ai_dst_canonname);
	AT(struct rdma_addrinfo, ai_route_len);
	AT(struct rdma_addrinfo, ai_route);
	AT(struct rdma_addrinfo, ai_connect_len);
	AT(struct rdma_addrinfo, ai_connect);
	AT(struct rdma_addrinfo, ai_next);
	SIZE(struct ib_addr);
	AT(struct ib_addr, sib_addr8);
	AT(struct ib_addr, sib_addr16);
	AT(struct ib_addr, sib_addr32);
	AT(struct ib_addr, sib_addr64);
	AT(struct ib_addr, sib_raw);
	AT(struct ib_addr, sib_subnet_prefix);
	AT(struct ib_addr, sib_interface_id);
	SIZE(struct sockaddr_ib);
	AT(struct sockaddr_ib, sib_family);
	AT(struct sockaddr_ib, sib_pkey);
	AT(struct sockaddr_ib, sib_flowinfo);
	AT(struct sockaddr_ib, sib_addr);
	AT(struct sockaddr_ib, sib_sid);
	AT(struct sockaddr_ib, sib_sid_mask);
	AT(struct sockaddr_ib, sib_scope_id);
}

static void numbers(void)
{
	NUMBER(AF_IB);
	NUMBER(PF_IB);
	NUMBER(RDMA_CM_EVENT_ADDR_RESOLVED);
	NUMBER(RDMA_CM_EVENT_ADDR_ERROR);
	NUMBER(RDMA_CM_EVENT_ROUTE_RESOLVED);
	NUMBER(RDMA_CM_EVENT_ROUTE_ERROR);
	NUMBER(RDMA_CM_EVENT_CONNECT_REQUEST);
	NUMBER(RDMA_CM_EVENT_CONNECT_RESPONSE);
	NUMBER(RDMA_CM_EVENT_CONNECT_ERROR);
	NUMBER(RDMA_CM_EVENT_UNREACHABLE);
	NUMBER(RDMA_CM_EVENT_REJECTED);
	NUMBER(RDMA_CM_EVENT_ESTABLISHED);
	NUMBER(RDMA_CM_EVENT_DISCONNECTED);
	NUMBER(RDMA_CM_EVENT_DEVICE_REMOVAL);
	NUMBER(RDMA_CM_EVENT_MULTICAST_JOIN);
	NUMBER(RDMA_CM_EVENT_MULTICAST_ERROR);
	NUMBER(RDMA_CM_EVENT_ADDR_CHANGE);
	NUMBER(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	NUMBER(RDMA_PS_IPOIB);
	NUMBER(RDMA_PS_TCP);
	NUMBER(RDMA_PS_UDP);
	NUMBER(RDMA_PS_IB);
	NUMBER(RDMA_IB_IP_PS_MASK);
	NUMBER(RDMA_IB_IP_PORT_MASK);
	NUMBER(RDMA_IB_IP_PS_TCP);
	NUMBER(RDMA_IB_IP_PS_UDP);
	NUMBER(RDMA_IB_PS_IB);
	NUMBER(RDMA_UDP_QKEY);
	NUMBER(RDMA_MAX_RESP_RES);
	NUMBER(RDMA_MAX_INIT_DEPTH);
	NUMBER(RAI_PASSIVE);
	NUMBER(RAI_NUMERICHOST);
	NUMBER(RAI_NOROUTE);
	NUMBER(RAI_FAMILY);
	NUMBER(RDMA_OPTION_ID);
	NUMBER(RDMA_OPTION_IB);
	NUMBER(RDMA_OPTION_ID_TOS);
	NUMBER(RDMA_OPTION_ID_REUSEADDR);
	NUMBER(RDMA_OPTION_ID_AFONLY);
	NUMBER(RDMA_OPTION_ID_ACK_TIMEOUT);
	NUMBER(RDMA_OPTION_IB_PATH);
}

int main(void)
{
	ids();
	parameters();
	addresses();
	numbers();
	return 0;
}
